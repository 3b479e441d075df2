-- Messages that wait for their turn, and those that steer.

-- Notes how many entries wait, and tells followers.
local function note_queue(log, who, removed)
  local queued = redis.call('LLEN', K.queue)
  redis.call('HSET', K.root, 'queued', queued)
  log.write('', own_chunk(who, 'queue_changed', { queued = queued, removed = removed }))
end

-- Puts messages among those that wait: steering ones before queued ones, interrupting ones first.
local function push_queued(log, who, entry)
  local json = cjson.encode(entry)
  local behind
  for _, other in ipairs(entry.mode == 'queue' and {} or redis.call('LRANGE', K.queue, 0, -1)) do
    if entry.mode == 'interrupt' or cjson.decode(other).mode ~= 'steer' then
      behind = other
      break
    end
  end
  if behind then
    redis.call('LINSERT', K.queue, 'BEFORE', behind, json)
  else
    redis.call('RPUSH', K.queue, json)
  end
  note_queue(log, who, nil)
end

local function pop_queued()
  local json = redis.call('LPOP', K.queue)
  redis.call('HSET', K.root, 'queued', redis.call('LLEN', K.queue))
  return cjson.decode(json)
end

local function steering_waits()
  local head = redis.call('LINDEX', K.queue, 0)
  return head and cjson.decode(head).mode == 'steer'
end

-- Takes user messages into the transcript; returns the first row and the count of visible messages.
local function store_messages(messages)
  local first = redis.call('LLEN', K.rows)
  local ui = tonumber(redis.call('HGET', K.root, 'uiCount') or '0')
  for _, message in ipairs(messages) do
    redis.call('RPUSH', K.rows, message.row)
    if not message.hidden then ui = ui + 1 end
  end
  redis.call('HSET', K.root, 'uiCount', ui)
  return first, ui
end

local function ids_of(messages)
  local ids = {}
  for at, message in ipairs(messages) do ids[at] = message.id end
  return ids
end

-- Takes steering messages into the transcript: the run's reply so far is closed, what follows is a
-- turn of its own. A reply that has not begun is left to begin.
local function take_steering(r, log, who)
  if r.replied ~= r.turn or not steering_waits() then return end
  local messages = {}
  repeat
    for _, message in ipairs(pop_queued().messages) do messages[#messages + 1] = message end
  until not steering_waits()
  local first, ui = store_messages(messages)
  r.turn, r.messageId = string.format('%d', tonumber(r.turn) + 1), 'msg-' .. string.format('%d', ui)
  redis.call('HSET', K.root, 'turn', r.turn, 'messageId', r.messageId, 'turnRow', first,
    'turnSeq', string.format('%d', log.seq))
  log.write('', own_chunk(who, 'turn_started', {
    runId = r.run, messageId = r.messageId, messageIds = ids_of(messages), reason = 'steer',
  }))
end
