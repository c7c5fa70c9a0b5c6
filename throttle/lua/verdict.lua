-- The verdict: {class, scope, key, model, gen, probe, length, ramp, resume,
-- hasten}. See state.go.
if verdict then
  local class, scope, ki, model, gen, id, length, ramp, resume, hasten = unpack(verdict)
  local k = keys[ki + 1]
  if gen > k.gen then
    k.gen, k.refused, k.class, k.next, k.probe, k.began, k.dirty = gen, id ~= '' and 1 or 0, 0, now + length, id, now, true
  end
  local holder = id ~= '' and (id == k.probe or k.probe == ANY_PROBE and gen == k.gen)
  if resume == 1 then
    local i = scope == SCOPE_MODEL and 1 or 2
    local rec = recs[i]
    if rec.stop > now then
      rec.stop, rec.used, rec.dirty = now, 0, true
    end
    tell(6, i == 1 and budget or '', '', '', 0, 0, 0, 0, 0)
  elseif hasten == 1 then
    if k.refused == 1 then
      k.next, k.dirty = min(k.next, now), true
      tell_key(ki + 1)
    end
  elseif (class == BUSY or class == OVERLOADED) and (scope == SCOPE_MODEL or scope == SCOPE_KEY) then
    shut(scope == SCOPE_MODEL and 1 or 2, length, ramp, class)
  elseif class == MODEL_DENIED and length > 0 then
    deny(models[model + 1], length, class)
  elseif class == KEY_REFUSED or class == CREDIT then
    if k.refused == 1 and holder then
      k.next, k.class, k.probe, k.dirty = max(k.next, k.began + length), class, '', true
      tell_key(ki + 1)
    elseif k.refused == 0 and gen == k.gen then
      k.gen, k.refused, k.class, k.next, k.probe, k.began, k.dirty = k.gen + 1, 1, class, now + length, '', 0, true
      tell_key(ki + 1)
    end
  end
  if holder and (class == OK or class == BUSY or class == BAD_REQUEST or class == MODEL_DENIED) then
    k.gen, k.refused, k.class, k.next, k.probe, k.began, k.dirty = k.gen + 1, 0, 0, 0, '', 0, true
    tell_key(ki + 1)
  end
end
