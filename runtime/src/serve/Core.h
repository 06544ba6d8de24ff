// Who goes first, who waits, who gives the cache back: the scheduler without
// threads and without a clock.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SERVE_CORE_H
#define TFC_RUNTIME_SRC_SERVE_CORE_H

#include "runtime/src/serve/EncodeQueue.h"
#include "runtime/src/serve/EventList.h"
#include "runtime/src/serve/PrefixIndex.h"
#include "runtime/src/session/BeamGenerate.h"

#include <functional>
#include <map>
#include <tuple>

namespace tfc::rt {

/// When a job goes and until when; times in microseconds, 0: no deadline.
struct JobTerms {
  uint64_t id = 0;
  int32_t priority = 0;
  uint64_t salt = 0;
  uint64_t arrival = 0, queueDeadline = 0, deadline = 0; // of one clock
  bool isMasked = false; // each token waits for its mask
};

/// Which tokens may come as number `position` of an answer's new ones.
struct TokenMask {
  uint64_t job = 0;
  uint32_t index = 0;
  uint64_t position = 0;
  std::vector<uint32_t> bits; // as ScoreRules::allowed
};

/// A beam search: what it answers with are its best sequences.
struct BeamJob {
  Prompt prompt;
  BeamOptions options;
  uint32_t numAnswers = 1;
  uint64_t cacheBytes = 0; // at most, in a cache of its own
};

struct CoreOptions {
  SessionOptions session;
  uint64_t maxBatchTokens = 1024;
  bool remembers = true; // beginnings
};

/// Belongs to one thread at a time.
class Core {
public:
  /// What time it is, in microseconds; never goes back.
  using Clock = std::function<uint64_t()>;

  /// The model outlives it. Errors: those of Session::create, where the model
  /// generates.
  static Result<std::unique_ptr<Core>> create(const Model &model,
                                              const CoreOptions &options);

  /// The session's, for prompts of any thread to be prepared; null where the
  /// model does not generate.
  const Session *session() const { return sequences.get(); }

  /// Adds a job: one answer or several to a prompt.
  void add(const JobTerms &terms, Prompt prompt, const RequestOptions &options);
  void add(const JobTerms &terms, TextBatch texts);
  void add(const JobTerms &terms, BeamJob search);
  /// Ends a job with CANCELLED; nothing when it is not there.
  void cancel(uint64_t job, EventList &out);
  /// Passed over when it is not for the next token of one that waits for it.
  void setMask(TokenMask mask);
  /// Ends all of them, with FAILED where there is an error.
  void endAll(const Error *why, EventList &out);

  /// One step of the model over those that are in, one of the first search, and
  /// one pass over texts;
  /// `clock` is asked when it begins and when it ends. Errors: faults that are
  /// nobody's; jobs are as they were.
  Status step(const Clock &clock, EventList &out);

  /// The results of texts that are done, by job; whoever takes them moves them
  /// out.
  std::map<uint64_t, std::vector<OutputTensor>> encoded;

  bool isIdle() const {
    return answers.empty() && texts.empty() && searches.empty();
  }
  /// Whether nothing can go on before a mask comes.
  bool waitsForMasks() const;
  /// All numbers but those of whoever calls: n_jobs, queue_tokens.
  tfc_scheduler_stats stats() const;
  /// For tests: beginnings that are remembered.
  const PrefixIndex &index() const { return beginnings; }

private:
  struct Job {
    JobTerms terms;
    std::optional<Prompt> prompt; // until it goes into the session
    RequestOptions options;
    PrefixText text;       // source and prompt
    uint64_t sequence = 0; // of the first answer
    uint64_t promptTokens = 0;
    uint64_t cached = 0;
    bool isCounted = false; // in the totals
  };
  enum class Place { Waiting, In };
  struct Answer {
    std::shared_ptr<Job> job;
    uint32_t index = 0;
    Place place = Place::Waiting;
    bool hasBegun = false, hasToken = false; // since it is in, for the second
    bool isHeld = false;                     // in, until its mask comes
    std::vector<uint32_t> mask;              // of the next token; empty: none
    std::vector<int32_t> made;               // tokens
    uint64_t begunAt = 0, preemptions = 0;

    uint64_t sequence() const { return job->sequence + index; }
    bool lacksMask() const { return job->terms.isMasked && mask.empty(); }
  };
  struct Texts {
    JobTerms terms;
    EncodeJob job;
    uint64_t begunAt = 0;
    bool hasBegun = false;
  };
  struct Search {
    JobTerms terms;
    BeamJob job;
    std::unique_ptr<BeamGeneration> run; // null until it begins
    uint64_t promptTokens = 0, begunAt = 0;
  };
  /// What goes first; fixed for life.
  using Order = std::tuple<int64_t, uint64_t, uint32_t>;
  static Order orderOf(const JobTerms &terms, uint32_t index) {
    return {-int64_t(terms.priority), terms.id, index};
  }
  using Answers = std::map<Order, Answer>;

  Core(const Model &model, const CoreOptions &options)
      : model(model), options(options), beginnings(1) {}

  void expire(EventList &out);
  void admit();
  bool canEnter(const Answer &answer) const;
  void enter(Answer &answer);
  Status stepSession(const Clock &clock, EventList &out);
  bool makeRoom(const Error &why, EventList &out);
  bool evict();
  Answers::iterator weakest(const std::function<bool(const Answer &)> &isMeant);
  void leave(Answer &answer);
  void preempt(Answer &answer);
  void takeWaiting();
  void begin(Answer &answer);
  void takeTokens(EventList &out);
  void hold(Answer &answer);
  static uint32_t finishOf(uint32_t state);
  Error faultOf(uint64_t sequence, uint32_t index) const;
  void remember(Answer &answer, bool isOver);
  Status stepTexts(const Clock &clock, EventList &out);
  using Searches = std::map<Order, Search>;
  Status stepSearches(const Clock &clock, EventList &out);
  Status stepSearch(Search &search, uint64_t begin);
  std::optional<Error> faultOf(const Search &search) const;
  void giveBest(Searches::iterator at, EventList &out);
  void finish(Searches::iterator at, uint32_t finish, EventList &out,
              const Error *why = nullptr);
  void addEnd(const Search &search, uint32_t index, uint32_t finish,
              uint64_t numNew, const Error *why, EventList &out);
  static tfc_job_event endOf(const JobTerms &terms, uint32_t finish,
                             const Error *why);
  static void setTimes(tfc_job_event &event, const JobTerms &terms,
                       bool hasBegun, uint64_t begunAt, uint64_t now);
  void finish(Answers::iterator at, uint32_t finish, EventList &out,
              const Error *why = nullptr);
  void finish(std::map<Order, Texts>::iterator at, uint32_t finish,
              EventList &out, const Error *why = nullptr);
  Answer *find(uint64_t sequence);

  const Model &model;
  CoreOptions options;
  std::unique_ptr<Session> sequences;
  PrefixIndex beginnings;
  Answers answers; // by order, those that wait and those that are in
  std::map<Order, Texts> texts;
  Searches searches;
  std::unordered_map<uint64_t, Order> bySequence; // of those in the session
  uint64_t now = 0;
  size_t numEvicting = 1; // grows while there is no room
  bool isFull = false;    // who waits has been refused, and nobody has left
  tfc_scheduler_stats totals{};
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SERVE_CORE_H
