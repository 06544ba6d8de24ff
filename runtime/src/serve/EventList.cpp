// What has happened to jobs, in order, with everything that events point at.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/EventList.h"

namespace tfc::rt {

void EventList::clear() { *this = EventList(); }

void EventList::addReport(std::vector<Report> &to, const tfc_logprobs *report) {
  Report made{0, 0, values.size()};
  if (report && report->n != 0) {
    made.chosen = report->chosen;
    made.n = report->n;
    likeliest.insert(likeliest.end(), report->tokens,
                     report->tokens + report->n);
    values.insert(values.end(), report->values, report->values + report->n);
  } else if (report) {
    made.chosen = report->chosen;
  }
  isAsked = isAsked || made.n != 0;
  to.push_back(made);
}

void EventList::addToken(uint64_t job, uint32_t index, uint64_t at,
                         int64_t token, const tfc_logprobs *report) {
  tfc_job_event event{};
  event.job = job;
  event.index = index;
  event.kind = TFC_JOB_TOKENS;
  event.first = tokens.size();
  event.count = 1;
  event.at = at;
  tokens.push_back(token);
  addReport(tokenReports, report);
  events.push_back(event);
  messageOf.push_back(0);
}

void EventList::addPrompt(uint64_t job, const tfc_prompt_logprobs &piece) {
  tfc_job_event event{};
  event.job = job;
  event.kind = TFC_JOB_PROMPT;
  event.first = promptReports.size();
  event.count = piece.n;
  event.at = static_cast<uint64_t>(piece.first);
  for (uint64_t i = 0; i < piece.n; ++i) {
    addReport(promptReports, &piece.logprobs[i]);
  }
  isAsked = true; // `chosen` is told, whatever else is not
  events.push_back(event);
  messageOf.push_back(0);
}

void EventList::addEnd(tfc_job_event event, const std::string &why) {
  event.kind = TFC_JOB_DONE;
  if (event.finish == TFC_FINISH_FAILED) {
    messages.push_back(why);
  }
  messageOf.push_back(event.finish == TFC_FINISH_FAILED ? messages.size() : 0);
  events.push_back(event);
}

void EventList::append(const EventList &other) {
  for (size_t i = 0; i < other.events.size(); ++i) {
    tfc_job_event event = other.events[i];
    event.first +=
        event.kind == TFC_JOB_PROMPT ? promptReports.size() : tokens.size();
    events.push_back(event);
    size_t message = other.messageOf[i];
    messageOf.push_back(message ? message + messages.size() : 0);
  }
  messages.insert(messages.end(), other.messages.begin(), other.messages.end());
  tokens.insert(tokens.end(), other.tokens.begin(), other.tokens.end());
  auto move = [&](std::vector<Report> &to, const std::vector<Report> &from) {
    for (Report report : from) {
      report.first += values.size();
      to.push_back(report);
    }
  };
  move(tokenReports, other.tokenReports);
  move(promptReports, other.promptReports);
  likeliest.insert(likeliest.end(), other.likeliest.begin(),
                   other.likeliest.end());
  values.insert(values.end(), other.values.begin(), other.values.end());
  isAsked = isAsked || other.isAsked;
}

tfc_job_events EventList::list() {
  given = events;
  for (size_t i = 0; i < given.size(); ++i) {
    given[i].first += given[i].kind == TFC_JOB_PROMPT ? tokens.size() : 0;
    given[i].message =
        messageOf[i] ? messages[messageOf[i] - 1].c_str() : nullptr;
  }
  reports.clear();
  for (const auto *list : {&tokenReports, &promptReports}) {
    for (const Report &report : *list) {
      reports.push_back({report.chosen, report.n,
                         likeliest.data() + report.first,
                         values.data() + report.first});
    }
  }
  tfc_job_events result{};
  result.events = given.data();
  result.n_events = given.size();
  result.tokens = tokens.data();
  result.n_tokens = tokens.size();
  result.logprobs = isAsked ? reports.data() : nullptr;
  result.n_logprobs = isAsked ? reports.size() : 0;
  return result;
}

} // namespace tfc::rt
