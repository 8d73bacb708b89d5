#!/bin/sh
# A hook that mails a night's report where it has something new. It needs jq and a mail command.
set -eu
report=$(mktemp)
trap 'rm -f "$report"' EXIT
cat >"$report"
[ "$(jq '.news | length' "$report")" -gt 0 ] || exit 0
subject=$(jq -r '"\(.bot), night \(.night): \(.news | length) new"' "$report")
jq -r '.news[] | "\(.kind): \(.case) \(.mode)\n  \(.subject)\n  \(.text)\n"' "$report" | mail -s "$subject" "${WHITTLE_MAIL_TO:-$USER}"
