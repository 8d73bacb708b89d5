#!/bin/sh
# A hook that files an issue where a night has something new. It needs gh, logged in, and jq. It runs in the folder of the configuration.
set -eu
report=$(mktemp)
trap 'rm -f "$report"' EXIT
cat >"$report"
[ "$(jq '.news | length' "$report")" -gt 0 ] || exit 0
title=$(jq -r '"\(.bot), night \(.night): \(.news | length) new, first \(.news[0].kind) in \(.news[0].case)"' "$report")
jq -r '.news[] | "- **\(.kind)** `\(.case)` \(.mode): \(.text)"' "$report" | gh issue create --title "$title" --body-file -
