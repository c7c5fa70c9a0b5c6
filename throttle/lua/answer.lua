-- Writing back, with an expiry that outlives every instant in the record.
-- Counters and denials that no longer matter are left out. A counter of
-- another configuration is kept for as long as its window can matter.
local function save_record(i, rec)
  local stop, counters, denied = rec.stop > 0 and rec.stop + rec.ramp or 0, {}, {}
  for _, t in ipairs(rec.line) do stop = max(stop, t[4] + TICKET_KEPT) end
  for _, c in ipairs(rec.counts) do
    local at
    for j, s in ipairs(limits) do
      if counts[j] == c then at = expires(c, s) end
    end
    if not at then
      local per, algorithm = floor(c[1] / 64), c[1] % 8
      if algorithm == HELD then
        at = held_last(c)
      elseif algorithm == LOG then
        at = (c[#c - 1] + log_span(per) + 1) * log_width(per)
      elseif algorithm <= FIXED then
        at = (c[2] + 3) * per
      else
        at = c[4] + 8 * per
      end
    end
    if at > now then
      stop, counters[#counters + 1] = max(stop, at), c
    end
  end
  for j = 1, #rec.denied, 2 do
    if rec.denied[j + 1] > now then
      stop = max(stop, rec.denied[j + 1])
      denied[#denied + 1], denied[#denied + 2] = rec.denied[j], rec.denied[j + 1]
    end
  end
  local value = cmsgpack.pack({ rec.stop, rec.ramp, rec.used, rec.class, counters, denied, rec.slots, rec.line, rec.epoch })
  redis.call('SET', KEYS[i], value, 'PX', ceil((max(stop, now) - now + MARGIN) / 1000))
end

for i, rec in ipairs(ticketed) do
  local awaited = false
  for _, t in ipairs(rec.line) do awaited = awaited or t[1] ~= process end
  if rec.freed and awaited then
    for _, t in ipairs(rec.line) do
      for o = 5, #t, 2 do
        if t[1] ~= process and t[o] == HELD_LABEL then t[4], rec.dirty = min(t[4], now), true end
      end
    end
    tell(4, i ~= 2 and budget or '', i > 2 and tens[i - 2].name or '', '', 0, 0, 0, 0, 0)
  end
end
local keeps = number > 0 and (changed or #fixes > 0)
if keeps then recs[1].dirty = true end

-- The answer: now; calls leased; left, ramp, used, class of the budget and the
-- account; gen, refused, class, next of each key; what is used of each limit;
-- for a dry claim what each lane may still draw of it, and what is used of each
-- tenant's own; the epochs that the
-- claim doesn't know; then code, n, limit, lacks, wait of each outcome, in the
-- order of the runs' calls.
local head = { now, leased }
for _, rec in ipairs(recs) do
  local shut = rec.stop > now or ramping(rec)
  local o = #head
  head[o + 1] = shut and max(0, rec.stop - now) or 0
  head[o + 2], head[o + 3], head[o + 4] = shut and rec.ramp or 0, shut and rec.used or 0, shut and rec.class or 0
end
for _, k in ipairs(keys) do
  local o, refused = #head, k.refused == 1
  head[o + 1], head[o + 2] = k.gen, k.refused
  head[o + 3], head[o + 4] = refused and k.class or 0, refused and max(0, k.next - now) or 0
end
for i = 1, shared do head[#head + 1] = used(counts[i], limits[i]) end
if dry then
  for i = 1, shared do
    local s = limits[i]
    for lane = 0, (#s - 6) / 3 - 1 do head[#head + 1] = fit(counts[i], s, lane, 0, 1) end
  end
  for _, w in ipairs(tens) do
    for k, c in ipairs(w.counts) do head[#head + 1] = used(c, limits[shared + k]) end
  end
end
for i, rec in ipairs(recs) do
  if rec.epoch == '' and rec.dirty and not dry then rec.epoch = birth end
  head[#head + 1] = rec.epoch ~= knows[i] and rec.epoch or ''
end
for i = 1, #out do head[#head + 1] = out[i] end
local reply = cmsgpack.pack(head)

if not dry then
  if keeps then
    local kept = { process, number, now, #out <= 5 * SLOT_ANSWER and reply or '' }
    for i = 1, shared do kept[4 + i] = charged[i] end
    local list = {}
    for t, w in ipairs(tens) do
      local any = false
      for k = 1, per_tenant do
        if t == current then w.charged[k] = charged[shared + k] end
        any = any or w.charged[k] ~= 0
      end
      if any then
        list[#list + 1] = w.name
        for k = 1, per_tenant do list[#list + 1] = w.charged[k] end
      end
    end
    if #list > 0 then kept[5 + shared] = list end
    local slots, since = {}, now - (#recs[1].slots > SLOT_MANY and SLOT_KEPT_OF_MANY or SLOT_KEPT)
    for _, s in ipairs(recs[1].slots) do
      if s[1] ~= process and s[3] >= since then
        if s[3] < now - SLOT_ANSWER_KEPT then s[4] = '' end
        slots[#slots + 1] = s
      end
    end
    slots[#slots + 1] = kept
    recs[1].slots, recs[1].dirty = slots, true
  end
  for i, rec in ipairs(recs) do
    if rec.dirty then save_record(i, rec) end
  end
  for t, w in ipairs(tens) do
    use(t)
    if w.rec.dirty then save_record(2 + #fingerprints + t, w.rec) end
  end
  for i, k in ipairs(keys) do
    if k.dirty then
      local value = cmsgpack.pack({ k.gen, k.refused, k.class, k.next, k.probe, k.began })
      redis.call('SET', KEYS[i + 2], value, 'PX', ceil((max(k.next, now) - now + KEY_KEPT) / 1000))
    end
  end
  for _, n in ipairs(notices) do redis.call('PUBLISH', ARGV[2], n) end
end
return reply
