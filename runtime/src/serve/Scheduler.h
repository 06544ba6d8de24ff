// The thread around the scheduler's core: jobs go in from any thread, events go
// out by one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SERVE_SCHEDULER_H
#define TFC_RUNTIME_SRC_SERVE_SCHEDULER_H

#include "runtime/src/serve/Core.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tfc::rt {

struct SchedulerOptions {
  CoreOptions core;
  uint64_t maxQueueTokens = uint64_t(1) << 20;
  bool hasThread = true;
};

/// Microseconds after the submission, 0: none; and the rest of JobTerms.
struct JobWishes {
  int32_t priority = 0;
  uint64_t salt = 0;
  uint64_t queueDeadline = 0, deadline = 0;
  bool isMasked = false;
};

class Scheduler {
public:
  /// Errors: those of Core::create; Exhausted (no thread).
  static Result<std::unique_ptr<Scheduler>>
  create(std::shared_ptr<const Model> model, const SchedulerOptions &options);
  /// Ends the step that runs.
  ~Scheduler();

  // From any thread.

  const Session *session() const { return core->session(); }
  const Model &model() const { return *served; }
  /// Words of a mask that has a bit for each of the model's scores.
  uint64_t numMaskWords() const;
  /// Both: the job's number. Errors: Exhausted (the queue), Cancelled
  /// (draining), and why the thread has ended.
  Result<uint64_t> submit(const JobWishes &wishes, Prompt prompt,
                          const RequestOptions &options);
  Result<uint64_t> submit(const JobWishes &wishes, TextBatch texts);
  Result<uint64_t> submit(const JobWishes &wishes, BeamJob search);
  /// Errors: NotFound.
  Status cancel(uint64_t job);
  /// Errors: NotFound.
  Status setMask(TokenMask mask);
  void drain(uint64_t deadline);
  tfc_scheduler_stats stats() const;
  /// Errors: NotFound.
  Result<std::vector<OutputTensor>> takeOutputs(uint64_t job);

  // From one thread at a time; the events are valid until the next call.

  /// Errors: InvalidArgument (no thread), why the thread has ended.
  Result<tfc_job_events> wait(uint64_t timeout);
  /// Errors: InvalidArgument (a thread), why a step failed.
  Result<tfc_job_events> run(uint64_t now);

private:
  struct Arrival {
    JobTerms terms; // deadlines: after the submission
    std::optional<Prompt> prompt;
    RequestOptions options;
    std::optional<BeamJob> search;
    TextBatch texts; // where it is none of both
    uint64_t numTokens = 0;
    uint32_t numAnswers = 1;
  };

  Scheduler(std::shared_ptr<const Model> model, const SchedulerOptions &options)
      : served(std::move(model)), options(options) {}

  Result<uint64_t> submit(Arrival arrival);
  void loop() noexcept;
  bool hasWork() const;
  bool stepOnce(const Core::Clock &clock);
  void awaitWork();
  void takeArrivals(uint64_t now);
  void publish(const EventList &made);
  void end(Error why) noexcept;
  static uint64_t steadyNow();

  std::shared_ptr<const Model> served;
  SchedulerOptions options;
  std::unique_ptr<Core> core; // the thread's, or the caller's of run
  std::atomic<bool> isEnding{false};

  mutable std::mutex mutex;
  std::condition_variable hasArrived, hasHappened;
  uint64_t lastJob = 0, queueTokens = 0;
  std::vector<Arrival> arrivals;
  std::vector<uint64_t> cancelled;
  std::vector<TokenMask> masks;
  std::map<uint64_t, uint32_t> live; // answers of a job that have not ended
  bool isDraining = false, endsAll = false;
  uint64_t drainAfter = 0; // microseconds; becomes a time
  uint64_t drainAt = 0;    // 0: none
  EventList happened;
  std::map<uint64_t, std::vector<OutputTensor>> outputs;
  tfc_scheduler_stats numbers{};
  std::optional<Error> ended;

  EventList given; // what wait and run gave last
  std::thread thread;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SERVE_SCHEDULER_H
