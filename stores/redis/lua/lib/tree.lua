-- Rest and waking of a conversation with its sub-agents.

-- Does something with the session, then with each sub-agent at work below it, in the order of the calls.
local function walk(work)
  work()
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    local part = call_field(id, 'child')
    if part and call_field(id, 'state') ~= 'settled' then
      in_session(part, function()
        local status = redis.call('HGET', K.root, 'status')
        if status and not TERMINAL[status] then walk(work) end
      end)
    end
  end
end

-- Notes the earliest deadline of the calls that wait in the conversation.
local function note_deadline()
  local first
  in_session('', function()
    walk(function()
      for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
        local deadline = call_field(id, 'state') == 'waiting' and tonumber(call_field(id, 'deadline') or '')
        if deadline and (not first or deadline < first) then first = deadline end
      end
    end)
  end)
  if first then
    redis.call('HSET', T.root, 'deadline', string.format('%d', first))
  else
    redis.call('HDEL', T.root, 'deadline')
  end
  return first
end

-- Answers are given to the conversation: makes K the session whose call it is.
local function find_owner(id)
  if call_field(id, 'state') or redis.call('SISMEMBER', K.settled, id) == 1 then return end
  local owner = redis.call('HGET', K.owners, id)
  if owner then K = keys_of(owner:match('^%S+')) end
end

-- What a session waits for: people, or sub-agents that wait for people. '' if it can go on.
local function resting_status()
  local status = ''
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    local state = call_field(id, 'state')
    if state == 'waiting' then
      if call_field(id, 'kind') == 'approval' then return 'waiting_approval' end
      status = 'waiting_tool'
    elseif state == 'open' and status == '' and redis.call('SISMEMBER', K.busy, id) == 0 then
      status = 'waiting_children'
    end
  end
  return status
end

-- Shows what was kept back, in a step of its own and as one row of the conversation's history.
local function show_held(r, log, who, waiting)
  local parts, sequence = {}, nil
  local step = '"step":' .. string.format('%d', who.step) .. ','
  local stamp = step .. '"timestamp":' .. string.format('%d', who.now) .. ','
  for _, call in ipairs(waiting) do
    local ask = redis.call('HGET', call.calls, 'ask:' .. call.id)
    if ask then
      if #parts == 0 then
        log.write('', own_chunk(who, 'step_start', { stepId = 'ask' }))
        sequence = string.format('%d', log.seq)
      end
      log.write('', '{' .. stamp .. ask:sub(2))
      parts[#parts + 1] = redis.call('HGET', call.calls, 'part:' .. call.id)
      redis.call('HDEL', call.calls, 'ask:' .. call.id, 'part:' .. call.id)
    end
  end
  if #parts == 0 then return end
  log.write('', own_chunk(who, 'step_end', { stepId = 'ask' }))
  redis.call('RPUSH', T.rows, '{"role":"assistant","display":true,' .. step .. '"messageId":'
    .. cjson.encode(r.messageId) .. ',"runId":' .. cjson.encode(r.run)
    .. ',"sequence":' .. sequence .. ',"parts":[' .. table.concat(parts, ',') .. ']}')
end

-- Who speaks for the conversation.
local function conversation_speaker(r, now)
  return { agentId = CONVERSATION, agentType = r.agent, step = tonumber(r.committed), now = now }
end

-- Pauses run, session and stream; K is the conversation's own session, status what it waits for.
local function pause_tree(r, log, now, status)
  local who = conversation_speaker(r, now)
  local waiting, ids, children, settled = {}, {}, {}, false
  walk(function()
    for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
      local state = call_field(id, 'state')
      if state == 'waiting' then
        ids[#ids + 1] = id
        waiting[#waiting + 1] = { id = id, calls = K.calls, name = call_field(id, 'name') }
      elseif K.root == T.root then
        settled = settled or state == 'settled'
        if state == 'open' then
          local child = cjson.decode(call_field(id, 'spec')).child
          children[#children + 1] = { subSessionId = child.sessionId, subAgentType = child.agent, callId = id }
        end
      end
    end
  end)
  show_held(r, log, who, waiting)
  if status == 'waiting_children' then
    log.write('', own_chunk(who, 'suspension_marker', {
      kind = 'suspended_awaiting_children', payload = { children = children },
    }))
  elseif settled then
    log.write('', own_chunk(who, 'suspension_marker', {
      kind = 'suspended_step_partial',
      payload = { toolCallIds = ids, stepId = 's' .. string.format('%d', who.step) },
    }))
  else
    log.write('', own_chunk(who, 'suspension_marker', {
      kind = 'suspended_client_tool', payload = { toolCallIds = ids },
    }))
  end
  for _, call in ipairs(waiting) do
    local wait = cjson.decode(redis.call('HGET', call.calls, 'spec:' .. call.id)).deadlineMs
    -- A clock that runs is not set back by another pause.
    if wait then
      redis.call('HSETNX', call.calls, 'deadline:' .. call.id, string.format('%d', store_now() + wait))
    end
  end
  local first = waiting[1] or {}
  local reasons = { waiting_approval = 'approval', waiting_tool = 'client_tool', waiting_children = 'awaiting_children' }
  log.write('', own_chunk(who, 'run_paused', {
    runId = r.run, reason = reasons[status], pendingToolName = first.name, pendingToolCallId = first.id,
    deadline = note_deadline(),
  }))
  local at = string.format('%d', log.seq)
  for _, call in ipairs(waiting) do redis.call('HSETNX', call.calls, 'asked:' .. call.id, at) end
  redis.call('HSET', K.root, 'stream', 'paused', 'pauseSeq', at)
  for field in pairs(r) do
    if field:sub(1, 5) == 'wake:' then redis.call('HDEL', K.root, field) end
  end
end

-- A session in which only people, or sub-agents that wait for people, can progress rests. Then its
-- parent's call is busy no more; when the conversation itself rests, all pauses. True if it did.
local rest_if_waiting
function rest_if_waiting(r, log, now)
  if redis.call('SCARD', K.busy) > 0 then return false end
  local status = resting_status()
  if status == '' then return false end
  redis.call('HSET', K.root, 'status', status)
  if K.root == T.root then
    if r.stream == 'paused' then return false end
    pause_tree(r, log, now, status)
    return true
  end
  return in_session(r.parent, function()
    redis.call('SREM', K.busy, r.parentCall)
    return rest_if_waiting(root_table(), log, now)
  end)
end

-- The stream goes on, if it had paused; while siblings still run it has not.
local function make_active(log, now)
  in_session('', function()
    local r = root_table()
    if r.stream == 'paused' then
      log.write('', own_chunk(conversation_speaker(r, now), 'run_resumed', {
        runId = r.run, fromCheckpointId = r.checkpoint or cjson.null, fromStepCount = tonumber(r.committed),
        mode = 'continue',
      }))
    end
    redis.call('HSET', K.root, 'status', 'running', 'stream', 'active')
  end)
end

-- What a session may go on with, kept until it is taken.
local function release(approved)
  local r = root_table()
  for _, id in ipairs(approved) do redis.call('SADD', K.busy, id) end
  local list = #approved == 0 and '[]' or cjson.encode(approved)
  local resumption = '{"step":' .. r.committed .. ',"approved":' .. list .. '}'
  redis.call('HSET', K.root, 'resume', resumption)
  if K.root == T.root then return resumption, nil end
  local part = own_part()
  local wake = '{"sessionId":' .. cjson.encode(CONVERSATION .. '.' .. part) .. ',"runId":' .. cjson.encode(r.run)
    .. ',"resume":' .. resumption .. '}'
  redis.call('HSET', T.root, 'wake:' .. part, wake)
  return resumption, wake
end

-- The last answer that anybody in the conversation waits for lets all go on: each session that was
-- answered, its approved calls. Returns what the session K may go on with, and those of others.
local function resume_if_answered(log, now)
  local asked, resumption, others = K.root, '', {}
  local is_open = false
  in_session('', function()
    walk(function()
      for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
        is_open = is_open or call_field(id, 'state') == 'waiting'
      end
    end)
  end)
  if is_open then return '', '' end
  make_active(log, now)
  in_session('', function()
    walk(function()
      local approved, is_told = {}, K.root == asked
      for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
        local state = call_field(id, 'state')
        if state == 'approved' then approved[#approved + 1] = id end
        if state == 'open' then redis.call('SADD', K.busy, id) end
        if call_field(id, 'asked') and redis.call('HSETNX', K.calls, 'told:' .. id, '1') == 1 then is_told = true end
      end
      redis.call('HSET', K.root, 'status', 'running')
      if not is_told then return end
      local own, wake = release(approved)
      if K.root == asked then
        resumption = own
      else
        others[#others + 1] = wake or '{"sessionId":' .. cjson.encode(CONVERSATION) .. ',"runId":'
          .. cjson.encode(redis.call('HGET', K.root, 'run')) .. ',"resume":' .. own .. '}'
      end
    end)
  end)
  return resumption, #others == 0 and '' or '[' .. table.concat(others, ',') .. ']'
end

-- A session whose calls are all settled goes on although others of the conversation wait.
local function go_on_alone(log, now)
  make_active(log, now)
  local function climb()
    redis.call('HSET', K.root, 'status', 'running')
    if K.root == T.root then return end
    local above = redis.call('HMGET', K.root, 'parent', 'parentCall')
    in_session(above[1], function()
      redis.call('SADD', K.busy, above[2])
      climb()
    end)
  end
  climb()
end
