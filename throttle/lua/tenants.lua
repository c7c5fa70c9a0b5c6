-- Tenants: {name, judged, ...}, each with counters of its own for the last limits.
-- See tenants.go.
per_tenant = per_tenant or 0
local shared, tens, current = #limits - per_tenant, {}, 0
local counts, charged, ahead, others = {}, {}, {}, {}

-- record_of is the record of a limit's counter; nil: that of no tenant.
local function record_of(i)
  if i <= own then return recs[1] end
  if i <= shared then return recs[2] end
  return tens[current] and tens[current].rec
end

-- use puts a tenant's counters into their places.
local function use(tenant)
  if not tenant or tenant == 0 or tenant == current then return end
  local w = tens[current]
  for k = 1, w and per_tenant or 0 do
    w.charged[k], w.ahead[k], w.others[k] = charged[shared + k], ahead[shared + k], others[shared + k]
  end
  current, w = tenant, tens[tenant]
  for k = 1, per_tenant do
    local i = shared + k
    counts[i], charged[i], ahead[i], others[i] = w.counts[k], w.charged[k], w.ahead[k], w.others[k]
  end
end

for i, s in ipairs(limits) do
  charged[i], ahead[i], others[i] = 0, 0, 0
  if i <= shared then
    counts[i] = counter_of(record_of(i), s)
    advance(record_of(i), counts[i], s)
  end
end

-- Records that have tickets: the budget's, the account's, then the tenants'.
local ticketed = { recs[1], recs[2] }
for j = 1, per_tenant > 0 and #tenants / 2 or 0 do
  local rec = load_record(raw[2 + #fingerprints + j])
  local w = { name = tenants[2 * j - 1], judged = tenants[2 * j] == 1, rec = rec, counts = {}, charged = {}, ahead = {}, others = {} }
  for k = 1, per_tenant do
    w.counts[k], w.charged[k], w.ahead[k], w.others[k] = counter_of(rec, limits[shared + k]), 0, 0, 0
    advance(rec, w.counts[k], limits[shared + k])
  end
  tens[j], ticketed[2 + j] = w, rec
end
