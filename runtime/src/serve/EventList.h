// What has happened to jobs, in order, with everything that events point at.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SERVE_EVENTLIST_H
#define TFC_RUNTIME_SRC_SERVE_EVENTLIST_H

#include "tfc/scheduler.h"

#include <string>
#include <vector>

namespace tfc::rt {

class EventList {
public:
  bool empty() const { return events.empty(); }
  /// Without what they point at.
  const std::vector<tfc_job_event> &all() const { return events; }
  void clear();

  /// A new token of an answer, number `at` of them; `report` may be null.
  void addToken(uint64_t job, uint32_t index, uint64_t at, int64_t token,
                const tfc_logprobs *report);
  /// What is told of a prompt.
  void addPrompt(uint64_t job, const tfc_prompt_logprobs &piece);
  /// The end of an answer, whose job, index and numbers are `event`'s; `why` of
  /// one that has failed.
  void addEnd(tfc_job_event event, const std::string &why = {});
  /// Everything in `other`, behind what is here.
  void append(const EventList &other);

  /// Valid until the list changes.
  tfc_job_events list();

private:
  struct Report {
    float chosen;
    uint32_t n;
    size_t first; // in likeliest and values
  };
  void addReport(std::vector<Report> &to, const tfc_logprobs *report);

  std::vector<tfc_job_event> events;
  std::vector<size_t> messageOf; // by event: one more than in messages; 0: none
  std::vector<std::string> messages;
  std::vector<int64_t> tokens;
  std::vector<Report> tokenReports, promptReports;
  std::vector<int64_t> likeliest;
  std::vector<float> values;
  bool isAsked = false; // whether there are reports
  // What `list` gives out.
  std::vector<tfc_job_event> given;
  std::vector<tfc_logprobs> reports;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SERVE_EVENTLIST_H
