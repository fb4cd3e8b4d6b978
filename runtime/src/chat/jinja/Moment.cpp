#include "runtime/src/chat/jinja/Moment.h"

#include <charconv>
#include <ctime>

using namespace effc::rt;
using namespace effc::rt::jinja;

static constexpr const char *kDays[] = {"Sunday",    "Monday",   "Tuesday",
                                        "Wednesday", "Thursday", "Friday",
                                        "Saturday"};
static constexpr const char *kMonths[] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

Moment Moment::now() {
  std::time_t seconds = std::time(nullptr);
  std::tm local = {};
  localtime_r(&seconds, &local);
  return {local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
          local.tm_hour,        local.tm_min,     local.tm_sec};
}

static bool isLeap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int daysOf(int month, int year) {
  static constexpr int kDaysOf[] = {31, 28, 31, 30, 31, 30,
                                    31, 31, 30, 31, 30, 31};
  return kDaysOf[month - 1] + (month == 2 && isLeap(year) ? 1 : 0);
}

static int dayOfYear(const Moment &moment) {
  int day = moment.day;
  for (int month = 1; month < moment.month; ++month)
    day += daysOf(month, moment.year);
  return day;
}

/// Sunday is 0. 1 January of the year 1 was a Monday in the calendar of today.
static int dayOfWeek(const Moment &moment) {
  int before = moment.year - 1;
  return (before * 365 + before / 4 - before / 100 + before / 400 +
          dayOfYear(moment)) %
         7;
}

Result<Moment> Moment::parse(std::string_view text) {
  Moment moment;
  auto refused = invalidArgument(
      "expected a date as 2026-03-09 or 2026-03-09T14:05:07, but found '", text,
      "'");
  if (text.size() != 10 && text.size() != 19)
    return refused;
  auto read = [&](size_t at, size_t digits, int &out) {
    if (at >= text.size())
      return true;
    auto [end, code] =
        std::from_chars(text.data() + at, text.data() + at + digits, out);
    return code == std::errc() && end == text.data() + at + digits && out >= 0;
  };
  static constexpr std::string_view kShape = "    -  -  T  :  :  ";
  for (size_t at = 0; at < text.size(); ++at)
    if (kShape[at] != ' ' && text[at] != kShape[at])
      return refused;
  if (!read(0, 4, moment.year) || !read(5, 2, moment.month) ||
      !read(8, 2, moment.day) || !read(11, 2, moment.hour) ||
      !read(14, 2, moment.minute) || !read(17, 2, moment.second))
    return refused;
  if (moment.year < 1 || moment.month < 1 || moment.month > 12 ||
      moment.day < 1 || moment.day > daysOf(moment.month, moment.year) ||
      moment.hour > 23 || moment.minute > 59 || moment.second > 59)
    return refused;
  return moment;
}

static std::string padded(int number, int digits, char filler = '0') {
  std::string text = std::to_string(number);
  if (text.size() < static_cast<size_t>(digits))
    text.insert(0, static_cast<size_t>(digits) - text.size(), filler);
  return text;
}

Result<std::string> Moment::format(std::string_view pattern) const {
  std::string text;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      text += pattern[at];
      continue;
    }
    // glibc's way to leave zeros out: %-d.
    bool plain = at + 2 < pattern.size() && pattern[at + 1] == '-';
    at += plain ? 2 : 1;
    char letter = at < pattern.size() ? pattern[at] : 0;
    int width = plain ? 1 : 2;
    int evening = hour % 12 == 0 ? 12 : hour % 12;
    auto whole = [&](std::string_view inner) { return *format(inner); };
    std::string weekday = kDays[dayOfWeek(*this)], name = kMonths[month - 1];
    switch (letter) {
    case 'a':
      text += weekday.substr(0, 3);
      break;
    case 'A':
      text += weekday;
      break;
    case 'b':
    case 'h':
      text += name.substr(0, 3);
      break;
    case 'B':
      text += name;
      break;
    case 'c':
      text += whole("%a %b %e %H:%M:%S %Y");
      break;
    case 'd':
      text += padded(day, width);
      break;
    case 'D':
    case 'x':
      text += whole("%m/%d/%y");
      break;
    case 'e':
      text += padded(day, width, ' ');
      break;
    case 'F':
      text += whole("%Y-%m-%d");
      break;
    case 'H':
      text += padded(hour, width);
      break;
    case 'I':
      text += padded(evening, width);
      break;
    case 'j':
      text += padded(dayOfYear(*this), plain ? 1 : 3);
      break;
    case 'm':
      text += padded(month, width);
      break;
    case 'M':
      text += padded(minute, width);
      break;
    case 'n':
      text += '\n';
      break;
    case 'p':
      text += hour < 12 ? "AM" : "PM";
      break;
    case 'R':
      text += whole("%H:%M");
      break;
    case 'S':
      text += padded(second, width);
      break;
    case 't':
      text += '\t';
      break;
    case 'T':
    case 'X':
      text += whole("%H:%M:%S");
      break;
    case 'u':
      text += std::to_string((dayOfWeek(*this) + 6) % 7 + 1);
      break;
    case 'w':
      text += std::to_string(dayOfWeek(*this));
      break;
    case 'y':
      text += padded(year % 100, width);
      break;
    case 'Y':
      text += std::to_string(year);
      break;
    case '%':
      text += '%';
      break;
    default:
      return fail(EFFC_UNSUPPORTED,
                  "expected a date's directive that is "
                  "understood, but found '%",
                  std::string(letter ? 1 : 0, letter), "'");
    }
  }
  return text;
}
