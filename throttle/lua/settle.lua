-- Settlements. See state.go.
local charged, changed = {}, false
for i = 1, #limits do charged[i] = 0 end

-- correct applies a settlement {at, calls, delta by limit}.
local function correct(st)
  for i, s in ipairs(limits) do
    local d = st[2 + i]
    if d ~= 0 then
      local rec = record_of(i)
      settle(counts[i], s, st[1], d)
      rec.dirty, changed = true, true
      if d < 0 and s[2] ~= HELD then rec.freed = true end
    end
  end
  for _, rec in ipairs(recs) do
    if st[2] > 0 and ramping(rec) and st[1] >= rec.stop then
      rec.used = max(0, rec.used - st[2])
      rec.dirty = true
    end
  end
end

-- Fixes: {number, {settlement...}, spent by limit}. See slots.go.
local first = 1
if slot then
  for j, f in ipairs(fixes) do
    if f[1] == slot[2] and #slot - 4 == #limits then
      local st = { slot[3], 0 }
      for i = 1, #limits do st[2 + i] = f[2 + i] - slot[4 + i] end
      correct(st)
      first = j + 1
    end
  end
end
for j = first, #fixes do
  local st = { now, 0 }
  for i = 1, #limits do st[2 + i] = fixes[j][2 + i] end
  correct(st)
  for _, older in ipairs(fixes[j][2]) do correct(older) end
end
for _, st in ipairs(settles) do correct(st) end

-- What is used at least by the vendor's word. See decide.go.
for i, least in ipairs(floors) do
  local more = least - used(counts[i], limits[i])
  if more > 0 and limits[i][2] ~= HELD then
    take(counts[i], limits[i], more)
    record_of(i).dirty, changed = true, true
  end
end
