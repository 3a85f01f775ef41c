//! The date in a prompt: `strftime_now` of templates, in coordinated universal time.

use std::time::{SystemTime, UNIX_EPOCH};

use minijinja::{Error, ErrorKind};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const SECONDS_PER_DAY: u64 = 86_400;

/// The present moment in the form `format`.
pub fn strftime_now(format: String) -> Result<String, Error> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    strftime(&format, seconds)
}

/// The moment `seconds` after the beginning of 1970.
fn strftime(format: &str, seconds: u64) -> Result<String, Error> {
    let (days, second) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    let (year, month, day, of_year) = date(days);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    let half_day = (hour + 11) % 12 + 1;
    let weekday = DAYS[((days + 4) % 7) as usize];
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let mut code = letters.next();
        let is_bare = code == Some('-');
        if is_bare {
            code = letters.next();
        }
        let number = |value: u64| if is_bare { value.to_string() } else { format!("{value:02}") };
        let text = match code {
            Some('Y') => year.to_string(),
            Some('y') => number(year % 100),
            Some('m') => number(month),
            Some('d') => number(day),
            Some('e') => format!("{day:2}"),
            Some('j') => {
                if is_bare {
                    of_year.to_string()
                } else {
                    format!("{of_year:03}")
                }
            }
            Some('H') => number(hour),
            Some('I') => number(half_day),
            Some('M') => number(minute),
            Some('S') => number(second % 60),
            Some('p') => if hour < 12 { "AM" } else { "PM" }.to_string(),
            Some('B') => MONTHS[month as usize - 1].to_string(),
            Some('b' | 'h') => MONTHS[month as usize - 1][..3].to_string(),
            Some('A') => weekday.to_string(),
            Some('a') => weekday[..3].to_string(),
            Some('F') => format!("{year}-{month:02}-{day:02}"),
            Some('T') => format!("{hour:02}:{minute:02}:{:02}", second % 60),
            Some('Z') => "UTC".to_string(),
            Some('z') => "+0000".to_string(),
            Some('%') => "%".to_string(),
            other => {
                let reason =
                    format!("strftime_now: `%{}` is not known", other.map_or(String::new(), String::from));
                return Err(Error::new(ErrorKind::InvalidOperation, reason));
            }
        };
        out.push_str(&text);
    }
    Ok(out)
}

/// Year, month, day of the month and day of the year, counted from 1.
fn date(mut days: u64) -> (u64, u64, u64, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    // 400 years have 146,097 days.
    let mut year = 1970 + days / 146_097 * 400;
    days %= 146_097;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let of_year = days + 1;
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1, of_year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_date_as_python_does() {
        // datetime.fromtimestamp(seconds, timezone.utc).strftime(format)
        let all = "%Y-%m-%d %H:%M:%S %B %b %A %a %j %I %p %-d %y %%";
        for (seconds, format, text) in [
            (0, all, "1970-01-01 00:00:00 January Jan Thursday Thu 001 12 AM 1 70 %"),
            (951_825_599, all, "2000-02-29 11:59:59 February Feb Tuesday Tue 060 11 AM 29 00 %"),
            (1_798_761_599, all, "2026-12-31 23:59:59 December Dec Thursday Thu 365 11 PM 31 26 %"),
            (4_107_542_400, "%d %b %Y", "01 Mar 2100"),
        ] {
            assert_eq!(strftime(format, seconds).ok().as_deref(), Some(text));
        }
        assert!(strftime("%Q", 0).is_err());
        assert!(strftime("%", 0).is_err());
    }
}
