// The thread around the scheduler's core: jobs go in from any thread, events go
// out by one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/Scheduler.h"

#include "runtime/src/CallOut.h"

#include <chrono>
#include <system_error>

namespace tfc::rt {

namespace {

/// Asked during steps: the flag of a scheduler that is to end.
int isSet(void *flag) { return static_cast<std::atomic<bool> *>(flag)->load(); }

/// The caller's time and span, without overflow; 0 stays 0.
uint64_t later(uint64_t now, uint64_t span) {
  return span == 0 ? 0 : span > UINT64_MAX - now ? UINT64_MAX : now + span;
}

} // namespace

Result<std::unique_ptr<Scheduler>>
Scheduler::create(std::shared_ptr<const Model> model,
                  const SchedulerOptions &options) {
  std::unique_ptr<Scheduler> made(new Scheduler(std::move(model), options));
  CoreOptions how = options.core;
  how.session.engine.stop = {isSet, &made->isEnding};
  auto core = Core::create(*made->served, how);
  if (!core) {
    return std::move(core.error());
  }
  made->core = std::move(*core);
  made->numbers = made->core->stats();
  if (options.hasThread) {
    try {
      made->thread =
          std::thread([scheduler = made.get()] { scheduler->loop(); });
    } catch (const std::system_error &fault) {
      return makeError(Code::Exhausted, "expected a thread for the scheduler, ",
                       "got none (", fault.what(), ")");
    }
  }
  return made;
}

Scheduler::~Scheduler() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnding = true;
  }
  hasArrived.notify_all();
  if (thread.joinable()) {
    thread.join();
  }
}

uint64_t Scheduler::steadyNow() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// ---- From any thread ----

Result<uint64_t> Scheduler::submit(const JobWishes &wishes, Prompt prompt,
                                   const RequestOptions &how) {
  Arrival arrival;
  arrival.terms = {0,
                   wishes.priority,
                   wishes.salt,
                   0,
                   wishes.queueDeadline,
                   wishes.deadline,
                   wishes.isMasked};
  arrival.numTokens = prompt.source
                          ? static_cast<uint64_t>(prompt.source->numTokens())
                          : prompt.choice.tokens.size();
  arrival.prompt = std::move(prompt);
  arrival.options = how;
  arrival.options.decoding = nullptr; // which the prompt has
  arrival.numAnswers = how.numAnswers;
  return submit(std::move(arrival));
}

Result<uint64_t> Scheduler::submit(const JobWishes &wishes, BeamJob search) {
  Arrival arrival;
  arrival.terms = {0, wishes.priority,      wishes.salt,
                   0, wishes.queueDeadline, wishes.deadline};
  const Prompt &prompt = search.prompt;
  arrival.numTokens = prompt.source
                          ? static_cast<uint64_t>(prompt.source->numTokens())
                          : prompt.choice.tokens.size();
  arrival.numAnswers = search.numAnswers;
  arrival.search = std::move(search);
  return submit(std::move(arrival));
}

Result<uint64_t> Scheduler::submit(const JobWishes &wishes, TextBatch texts) {
  Arrival arrival;
  arrival.terms = {0, wishes.priority,      wishes.salt,
                   0, wishes.queueDeadline, wishes.deadline};
  arrival.numTokens = texts.numTokens();
  arrival.texts = std::move(texts);
  return submit(std::move(arrival));
}

Result<uint64_t> Scheduler::submit(Arrival arrival) {
  uint64_t job = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (ended) {
      return *ended;
    }
    if (isDraining) {
      return makeError(Code::Cancelled, "expected a scheduler that takes jobs, "
                                        "got one that is drained");
    }
    if (queueTokens != 0 &&
        arrival.numTokens > options.maxQueueTokens -
                                std::min(queueTokens, options.maxQueueTokens)) {
      return makeError(Code::Exhausted, "queue: expected at most ",
                       options.maxQueueTokens, " tokens of jobs that wait, ",
                       "got ", queueTokens, " and ", arrival.numTokens);
    }
    job = ++lastJob;
    arrival.terms.id = job;
    arrival.terms.arrival = options.hasThread ? steadyNow() : 0;
    queueTokens += arrival.numTokens;
    live[job] = arrival.numAnswers;
    arrivals.push_back(std::move(arrival));
  }
  hasArrived.notify_all();
  return job;
}

Status Scheduler::cancel(uint64_t job) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!live.count(job)) {
      outputs.erase(job); // which nobody will take
      return makeError(Code::NotFound, "expected a job that has not ended, ",
                       "got ", job);
    }
    cancelled.push_back(job);
  }
  hasArrived.notify_all();
  return {};
}

uint64_t Scheduler::numMaskWords() const {
  const tfc_entry_v0 *entry = served->generateEntry();
  return entry ? entry->outputs[served->logitsPort()].width / 32 + 1 : 1;
}

Status Scheduler::setMask(TokenMask mask) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!live.count(mask.job)) {
      return makeError(Code::NotFound, "expected a job that has not ended, ",
                       "got ", mask.job);
    }
    masks.push_back(std::move(mask));
  }
  hasArrived.notify_all();
  return {};
}

void Scheduler::drain(uint64_t deadline) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isDraining = true;
    drainAfter = deadline;
    drainAt = options.hasThread ? later(steadyNow(), deadline) : 0;
  }
  hasArrived.notify_all();
}

tfc_scheduler_stats Scheduler::stats() const {
  std::lock_guard<std::mutex> lock(mutex);
  tfc_scheduler_stats result = numbers;
  result.n_jobs = live.size();
  result.queue_tokens = queueTokens;
  for (const Arrival &arrival : arrivals) {
    result.n_waiting += arrival.numAnswers;
  }
  return result;
}

Result<std::vector<OutputTensor>> Scheduler::takeOutputs(uint64_t job) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = outputs.find(job);
  if (found == outputs.end()) {
    return makeError(Code::NotFound, "expected a job whose texts are encoded ",
                     "and whose result nobody took, got ", job);
  }
  std::vector<OutputTensor> taken = std::move(found->second);
  outputs.erase(found);
  return taken;
}

// ---- Who steps ----

/// Under the lock: whether there is something to do, or may be by now.
bool Scheduler::hasWork() const {
  return !arrivals.empty() || !cancelled.empty() || !masks.empty() ||
         (!core->isIdle() && !core->waitsForMasks());
}

/// Until there is. While nothing but masks is waited for deadlines may come.
void Scheduler::awaitWork() {
  constexpr std::chrono::milliseconds tick(10);
  std::unique_lock<std::mutex> lock(mutex);
  auto isDue = [&] { return isEnding || hasWork(); };
  if (core->isIdle()) {
    hasArrived.wait(lock, isDue);
  } else {
    hasArrived.wait_for(lock, tick, isDue);
  }
}

/// Under the lock: what came since the last step goes into the core.
void Scheduler::takeArrivals(uint64_t now) {
  for (Arrival &arrival : arrivals) {
    JobTerms terms = arrival.terms;
    terms.arrival = options.hasThread ? terms.arrival : now;
    terms.queueDeadline = later(terms.arrival, terms.queueDeadline);
    terms.deadline = later(terms.arrival, terms.deadline);
    if (arrival.prompt) {
      core->add(terms, std::move(*arrival.prompt), arrival.options);
    } else if (arrival.search) {
      core->add(terms, std::move(*arrival.search));
    } else {
      core->add(terms, std::move(arrival.texts));
    }
  }
  arrivals.clear();
  if (isDraining && drainAfter != 0 && drainAt == 0) {
    drainAt = later(now, drainAfter);
  }
  endsAll = isDraining && drainAt != 0 && now >= drainAt;
}

/// Under the lock.
void Scheduler::publish(const EventList &made) {
  happened.append(made);
  for (const tfc_job_event &event : made.all()) {
    auto found = event.kind == TFC_JOB_DONE ? live.find(event.job) : live.end();
    if (found != live.end() && --found->second == 0) {
      live.erase(found);
    }
  }
  for (auto &[job, results] : core->encoded) {
    outputs[job] = std::move(results);
  }
  core->encoded.clear();
  numbers = core->stats();
  queueTokens = numbers.queue_tokens;
  for (const Arrival &arrival : arrivals) {
    queueTokens += arrival.numTokens;
  }
}

/// Whether it goes on.
bool Scheduler::stepOnce(const Core::Clock &clock) {
  EventList made;
  std::vector<uint64_t> leaving;
  std::vector<TokenMask> coming;
  bool isAll = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    takeArrivals(clock());
    leaving.swap(cancelled);
    for (uint64_t job : leaving) {
      outputs.erase(job); // of one that ended meanwhile
    }
    coming.swap(masks);
    isAll = endsAll;
  }
  for (uint64_t job : leaving) {
    core->cancel(job, made);
  }
  for (TokenMask &mask : coming) {
    core->setMask(std::move(mask));
  }
  if (isAll) {
    core->endAll(nullptr, made);
  }
  Status status = core->isIdle() ? Status() : core->step(clock, made);
  if (isEnding) {
    return false;
  }
  if (!status) {
    core->endAll(&status.error(), made);
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    publish(made);
    if (!status) {
      ended = std::move(status.error());
      isDraining = true;
    }
  }
  hasHappened.notify_all();
  return bool(status);
}

/// The thread ends for a reason that is no step's: no memory for it.
void Scheduler::end(Error why) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  ended = std::move(why);
  live.clear();
  hasHappened.notify_all();
}

void Scheduler::loop() noexcept {
  try {
    for (bool goesOn = true; goesOn;) {
      awaitWork();
      goesOn = !isEnding && stepOnce(steadyNow);
    }
  } catch (const CallerFault &fault) {
    end({Code::InvalidArgument, fault.what()});
  } catch (const std::bad_alloc &) {
    end({Code::Exhausted, "out of memory"});
  } catch (const std::exception &fault) {
    end({Code::Internal, fault.what()});
  }
}

Result<tfc_job_events> Scheduler::wait(uint64_t timeout) {
  if (!options.hasThread) {
    return makeError(Code::InvalidArgument, "expected a scheduler with a ",
                     "thread, got one for tfc_scheduler_run");
  }
  given.clear();
  std::unique_lock<std::mutex> lock(mutex);
  // Beyond a year a deadline may not be a time.
  constexpr uint64_t year = uint64_t(365) * 86400 * 1000000;
  hasHappened.wait_for(lock, std::chrono::microseconds(std::min(timeout, year)),
                       [&] { return ended || !happened.empty(); });
  if (happened.empty() && ended) {
    return *ended;
  }
  std::swap(given, happened);
  return given.list();
}

Result<tfc_job_events> Scheduler::run(uint64_t now) {
  if (options.hasThread) {
    return makeError(Code::InvalidArgument, "expected a scheduler without a ",
                     "thread, got one for tfc_scheduler_wait");
  }
  given.clear();
  if (!ended) {
    stepOnce([now] { return now; });
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (happened.empty() && ended) {
    return *ended;
  }
  std::swap(given, happened);
  return given.list();
}

} // namespace tfc::rt
