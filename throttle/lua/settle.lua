-- Settlements. See state.go.
local changed = false

-- correct applies a settlement {at, calls, delta by limit, tenant}. One of no
-- tenant may leave out what tenants have of their own.
local function correct(st)
  local tenant = st[3 + #limits]
  use(tenant)
  for i, s in ipairs(limits) do
    local d = st[2 + i]
    if d and d ~= 0 and (tenant or i <= shared) then
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

-- correct_tenant books what a fix says of a tenant, in its list from place o on,
-- less what a slot's list says of it.
local function correct_tenant(j, at, f, o, known, q)
  local st = { at, 0 }
  for i = 1, shared do st[2 + i] = 0 end
  for k = 1, per_tenant do st[2 + shared + k] = f[o + k] - (q and known[q + k] or 0) end
  st[3 + #limits] = j
  correct(st)
end

local function place_in(list, from, what)
  for o = from, list and #list or 0, 1 + per_tenant do
    if list[o] == what then return o end
  end
end

if slot then
  local known = type(slot[#slot]) == 'table' and slot[#slot]
  for j, f in ipairs(fixes) do
    if f[1] == slot[2] and #slot - 4 - (known and 1 or 0) == shared then
      local st = { slot[3], 0 }
      for i = 1, shared do st[2 + i] = f[2 + i] - slot[4 + i] end
      correct(st)
      for t, w in ipairs(tens) do
        local o, q = place_in(f, 3 + shared, t), place_in(known, 1, w.name)
        if o then correct_tenant(t, slot[3], f, o, known, q) end
      end
      first = j + 1
    end
  end
end
for j = first, #fixes do
  local st, f = { now, 0 }, fixes[j]
  for i = 1, shared do st[2 + i] = f[2 + i] end
  correct(st)
  for o = 3 + shared, #f, 1 + per_tenant do
    if f[o] > 0 then correct_tenant(f[o], now, f, o) end
  end
  for _, older in ipairs(f[2]) do correct(older) end
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
