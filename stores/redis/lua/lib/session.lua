--[[ What the transitions share. Keys of a session, in this order in every script but append, and
     then those of the conversation's own session once more; for that one they are the same:
     1 root  2 stream  3 rows  4 calls  5 order  6 busy  7 writers  8 messages  9 runs
     10 checkpoints  11 settled  12 results  13 states  14 staged  15 notices  16 children  17 owners
     18 queue  19 channel  20 stop channel
     root: hash, the session and its newest run. calls: hash of <field>:<toolCallId> for the calls of
     the newest committed step, and lapsed:<toolCallId> for those of earlier ones that timed out. order: their ids. busy: what can still progress without a person.
     writers: hash of t: token, b: batch, s: sequence of that batch, f: sequence before its first
     entry, n: nonce of one of no run, per writer; fails:<step>. settled: ids of all calls ever taken in. results: large results
     by call. states: the agent's own state by version. staged: changes to it that calls ask for.
     Of the newest run the root keeps usage: six numbers as `more` of add_usage; output: the result
     that its model handed in, as JSON; finishReason: of its newest committed step.
     notices: hidden rows for the model that wait for the next step or turn.
     A sub-agent's session shares stream, results, children, owners and channels with the
     conversation's. children: hash of all sub-agents' sessions by the part of their id behind the
     conversation's, and the run they belong to. owners: hash of call ids, and that part of the
     sub-agent that made them.
     queue: list of entries {id, mode, queuedAt, by, messages: {id, hash, row, hidden}}, a row being JSON text.
     STREAM_TTL_SECONDS and SESSION_TTL_SECONDS (0: never) are set by the loader. ]]
local NAMES = {
  'root', 'stream', 'rows', 'calls', 'order', 'busy', 'writers', 'messages', 'runs', 'checkpoints',
  'settled', 'results', 'states', 'staged', 'notices', 'children', 'owners', 'queue',
  'channel', 'stop',
}
local STORED = 18 -- how many of the keys hold data
local SHARED = { stream = true, results = true, children = true, owners = true, channel = true, stop = true }
-- K: the session that is worked on. T: the conversation's own, whose stream all share.
local K, T = {}, {}
for i, name in ipairs(NAMES) do K[name], T[name] = KEYS[i], KEYS[#NAMES + i] end
local CALL_FIELDS = {
  'state:', 'name:', 'kind:', 'spec:', 'row:', 'decision:', 'asked:', 'again:', 'n:', 'deadline:', 'late:',
  'ask:', 'part:', 'child:', 'brief:', 'told:',
}

local CODE_TEXT = {
  run_stopped = 'The run was stopped before this call was carried out.',
  run_failed = 'The run failed before this call was carried out.',
  client_tool_abandoned = 'The user went on without answering this call.',
  tool_outcome_unknown = 'The tool had started when its worker was lost or stopped; whether it took effect is not known.',
}

-- What the model is told of an answer that came when it knew of the timeout.
local function late_text(id, name, answer)
  return 'The call "' .. id .. '" of "' .. name .. '" was answered after its time limit. ' .. answer
end

local BASE = T.root:sub(1, -5)
local CONVERSATION = BASE:match('{([^{}]*)}:$')

-- The part of the session's id behind the conversation's; '' for the conversation's own.
local function own_part()
  return K.root == T.root and '' or K.root:sub(#BASE + 1, -6)
end

local function keys_of(part)
  if part == '' then return T end
  local keys = {}
  for _, name in ipairs(NAMES) do keys[name] = SHARED[name] and T[name] or BASE .. part .. ':' .. name end
  return keys
end

-- Does something with another session of the conversation.
local function in_session(part, work)
  local before = K
  K = keys_of(part)
  local result = work()
  K = before
  return result
end

-- Sequence and status of the stream are the conversation's.
local function root_table()
  local flat, r = redis.call('HGETALL', K.root), {}
  for i = 1, #flat, 2 do r[flat[i]] = flat[i + 1] end
  if K.root ~= T.root then
    local shared = redis.call('HMGET', T.root, 'seq', 'stream')
    r.seq, r.stream = shared[1] or nil, shared[2] or nil
  end
  return r
end

-- Milliseconds since the epoch by the clock of Redis: deadlines do not depend on callers' clocks.
local function store_now()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- Nothing of a session that is at work or waits expires.
local function keep_for_ever()
  if redis.call('PTTL', T.children) >= 0 then
    for _, part in ipairs(redis.call('HKEYS', T.children)) do
      in_session(part, function()
        for i = 1, STORED do redis.call('PERSIST', K[NAMES[i]]) end
      end)
    end
  end
  for i = 1, STORED do redis.call('PERSIST', KEYS[i]) end
end

-- Forgets the control messages of a stream that has expired.
local function recount_controls()
  if redis.call('EXISTS', K.stream) == 0 then redis.call('HSET', K.root, 'controls', 0) end
end

local CONTROL = { stream_end = true, stream_status = true, stream_truncated = true }
local function is_control(json)
  local ok, message = pcall(cjson.decode, json)
  return ok and type(message) == 'table' and CONTROL[message.type] == true
end

-- Removes the entries up to a sequence.
local function trim_log(sequence)
  local controls = 0
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '-', string.format('%d', sequence) .. '-0')) do
    if entry[2][2] == '' and is_control(entry[2][4]) then controls = controls + 1 end
  end
  redis.call('HINCRBY', K.root, 'controls', string.format('%d', -controls))
  redis.call('XTRIM', K.stream, 'MINID', string.format('%d', sequence + 1) .. '-0')
end

-- Arms the expiry of what has ended; a stream without a session goes as a whole.
local function arm_expiry(has_session)
  local rest = has_session and SESSION_TTL_SECONDS or STREAM_TTL_SECONDS
  -- The stream never outlives the sequence that numbers it.
  local stream = rest > 0 and math.min(rest, STREAM_TTL_SECONDS) or STREAM_TTL_SECONDS
  redis.call('EXPIRE', K.stream, stream)
  if rest == 0 then return end
  local function expire()
    for i = 1, STORED do
      if K[NAMES[i]] ~= T.stream then redis.call('EXPIRE', K[NAMES[i]], rest) end
    end
  end
  expire()
  for _, part in ipairs(redis.call('HKEYS', T.children)) do in_session(part, expire) end
end

-- What is written after the end expires with the session's other keys.
local function expire_with_root()
  local left = redis.call('PTTL', K.root)
  if left < 0 then return end
  for i = 1, STORED do
    if redis.call('PTTL', KEYS[i]) == -1 then redis.call('PEXPIRE', KEYS[i], left) end
  end
end

-- Replaces the agent's own state. A version that a checkpoint names stays.
local function put_state(r, state)
  local version = tonumber(r.stateV or '0')
  if version ~= tonumber(r.checkpointV or '0') then redis.call('HDEL', K.states, r.stateV) end
  local next_version = string.format('%d', version + 1)
  redis.call('HSET', K.states, next_version, state)
  redis.call('HSET', K.root, 'stateV', next_version)
end

local function open_session_log(r)
  return open_log(T.root, T.stream, T.channel, tonumber(r.seq or '0'))
end

-- A chunk that the store writes by itself; who = {agentId, agentType, step, now}.
local function own_chunk(who, kind, fields)
  fields.type, fields.agentId, fields.agentType = kind, who.agentId, who.agentType
  fields.step, fields.timestamp = who.step, who.now
  return cjson.encode(fields)
end

local function call_field(id, field)
  return redis.call('HGET', K.calls, field .. ':' .. id)
end

-- A sub-agent's call is found by its id: answers are given to the conversation.
local function own_call_id(id)
  local owner = redis.call('HGET', K.owners, id)
  if not owner or owner:match('^%S+') ~= own_part() then redis.call('HSET', K.owners, id, own_part()) end
end

local function settle_row(id, row)
  redis.call('HSET', K.calls, 'state:' .. id, 'settled', 'row:' .. id, row)
  redis.call('SREM', K.busy, id)
end

-- Who tells of a call: what people were asked on behalf of a sub-agent stands in the conversation's message.
local function teller_of(id, who)
  if K.root == T.root or not call_field(id, 'asked') then return who end
  local step = tonumber(redis.call('HGET', T.root, 'committed'))
  return { agentId = CONVERSATION, agentType = who.agentType, step = step, now = who.now }
end

-- Puts JSON text into an encoded object: a decoded empty list would come out as an empty object.
local function with_json(object, field, json)
  if not json then return object end
  return '{"' .. field .. '":' .. json .. ',' .. object:sub(2)
end

-- Takes back what a call showed of changes that will never be made, the newest first.
local function undo_patches(log, who, id)
  local writer, undos = 't:' .. id, {}
  local first = redis.call('HGET', K.writers, 'f:' .. writer)
  if not first then return end
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '(' .. first .. '-0', '+')) do
    if entry[2][2] == writer and entry[2][4]:find('"state_patch"', 1, true) then
      local chunk = cjson.decode(entry[2][4])
      if chunk.type == 'state_patch' and chunk.undo then table.insert(undos, 1, chunk.undo) end
    end
  end
  for _, undo in ipairs(undos) do log.write('', with_json(own_chunk(who, 'state_patch', {}), 'patches', undo)) end
end

-- Settles a call by a code of CODE_TEXT.
local function settle_by_code(log, who, id, code)
  local name, kind = call_field(id, 'name'), call_field(id, 'kind')
  if code == 'tool_outcome_unknown' then undo_patches(log, who, id) end
  local asked = call_field(id, 'decision')
  local decision = asked and cjson.decode(asked) or cjson.decode(call_field(id, 'spec')).decision
  settle_row(id, cjson.encode({
    role = 'tool', toolCallId = id, toolName = name, error = CODE_TEXT[code], errorCode = code,
    decision = decision,
  }))
  -- What nobody was shown needs no end.
  if call_field(id, 'ask') then return end
  local chunk = { toolCallId = id, toolName = name, result = cjson.null, error = CODE_TEXT[code], errorCode = code }
  if kind == 'server' or kind == 'subagent' then chunk.providerExecuted = true end
  log.write('', own_chunk(teller_of(id, who), 'tool_end', chunk))
end

-- Settles whatever is open: what had started as outcome unknown, the rest by the given code.
local function close_calls(log, who, code)
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    local state = call_field(id, 'state')
    if state == 'started' then
      settle_by_code(log, who, id, 'tool_outcome_unknown')
    elseif state ~= 'settled' then
      settle_by_code(log, who, id, code)
    end
  end
end

local function has_unsettled()
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    if call_field(id, 'state') ~= 'settled' then return true end
  end
  return false
end

-- Takes the settled calls' results into the transcript, in the order of the calls. Those of a
-- sub-agent that people were asked about are kept for the conversation's history as well.
local function take_in_results()
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    local row = call_field(id, 'row')
    redis.call('RPUSH', K.rows, row)
    if call_field(id, 'late') == '1' then
      redis.call('HSET', K.calls, 'lapsed:' .. id, call_field(id, 'kind') .. ' ' .. call_field(id, 'name'))
    end
    if K.root ~= T.root and call_field(id, 'asked') then
      redis.call('RPUSH', T.rows, '{"display":true,' .. row:sub(2))
    end
    for _, field in ipairs(CALL_FIELDS) do redis.call('HDEL', K.calls, field .. id) end
    redis.call('SADD', K.settled, id)
  end
  redis.call('DEL', K.order)
end

-- Tells the model what came too late to be a result.
local function take_in_notices()
  for _, row in ipairs(redis.call('LRANGE', K.notices, 0, -1)) do redis.call('RPUSH', K.rows, row) end
  redis.call('DEL', K.notices)
end

-- Adds a reply's row; the first one of a turn makes a new visible message.
local function push_reply(r, row)
  redis.call('RPUSH', K.rows, row)
  if r.replied ~= r.turn then
    redis.call('HSET', K.root, 'replied', r.turn)
    redis.call('HINCRBY', K.root, 'uiCount', 1)
  end
end

-- Removes a writer's entries after a sequence; returns how many there were.
local function remove_entries(sequence, writer)
  local removed, after = 0, string.format('%d', sequence)
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '(' .. after .. '-0', '+')) do
    if entry[2][2] == writer then
      redis.call('XDEL', K.stream, entry[1])
      removed = removed + 1
    end
  end
  return removed
end

-- Removes a writer's entries since its claim; returns how many there were.
local function withdraw(writer)
  local first = redis.call('HGET', K.writers, 'f:' .. writer)
  return first and remove_entries(tonumber(first), writer) or 0
end

-- Makes an attempt the owner of its writer name.
local function own_writer(writer, token, seq)
  redis.call('HSET', K.writers, 't:' .. writer, token, 'b:' .. writer, 0, 's:' .. writer, 0,
    'f:' .. writer, string.format('%d', seq))
end

local function release_writer(writer)
  redis.call('HDEL', K.writers, 't:' .. writer, 'b:' .. writer, 's:' .. writer, 'f:' .. writer, 'n:' .. writer)
end

-- Tells viewers that part of what they saw is gone; of one call only, if it is named.
local function tell_of_withdrawal(r, log, who, id)
  log.write('', own_chunk(who, 'stream_resync', {
    checkpointId = r.checkpoint or '', stepCount = tonumber(r.committed or '0'),
    messageCount = redis.call('LLEN', K.rows), fromSequence = log.seq, reason = 'crash_recovery', toolCallId = id,
  }))
end

-- Keeps what a call wants changed in the agent's own state; its earlier changes are replaced.
local function stage_changes(step_id, id, changes)
  local n = redis.call('HINCRBY', K.staged, 'n', 1)
  redis.call('HSET', K.staged, step_id .. '/' .. id, string.format('%d', n) .. ' ' .. changes)
end

-- Withdraws an attempt and tells viewers.
local function discard_attempt(r, log, who, writer, reason)
  local removed = withdraw(writer)
  log.write('', own_chunk(who, 'step_discarded', {
    runId = r.run or '', stepId = 's' .. string.format('%d', who.step), reason = reason,
  }))
  if removed > 0 then tell_of_withdrawal(r, log, who) end
end

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
  local parts = {}
  local step = '"step":' .. string.format('%d', who.step) .. ','
  local stamp = step .. '"timestamp":' .. string.format('%d', who.now) .. ','
  for _, call in ipairs(waiting) do
    local ask = redis.call('HGET', call.calls, 'ask:' .. call.id)
    if ask then
      if #parts == 0 then log.write('', own_chunk(who, 'step_start', { stepId = 'ask' })) end
      log.write('', '{' .. stamp .. ask:sub(2))
      parts[#parts + 1] = redis.call('HGET', call.calls, 'part:' .. call.id)
      redis.call('HDEL', call.calls, 'ask:' .. call.id, 'part:' .. call.id)
    end
  end
  if #parts == 0 then return end
  log.write('', own_chunk(who, 'step_end', { stepId = 'ask' }))
  redis.call('RPUSH', T.rows, '{"role":"assistant","display":true,' .. step .. '"messageId":'
    .. cjson.encode(r.messageId) .. ',"runId":' .. cjson.encode(r.run)
    .. ',"parts":[' .. table.concat(parts, ',') .. ']}')
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

-- Adds what a model call used to the run's totals: tokens in, out, cached, written to the cache,
-- of reasoning, and millionths of a dollar. Nothing to add: ''.
local function add_usage(r, more)
  if more == '' then return end
  local sums, before = {}, (r.usage or '0 0 0 0 0 0'):gmatch('%d+')
  for n in more:gmatch('%d+') do
    sums[#sums + 1] = string.format('%d', tonumber(n) + tonumber(before() or '0'))
  end
  r.usage = table.concat(sums, ' ')
  redis.call('HSET', K.root, 'usage', r.usage)
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

-- How the run of this session ended; nothing of it is at work any more.
local function close_run(r, who, status, error_json, reason)
  redis.call('HSET', K.root, 'status', status, 'updated', string.format('%d', who.now))
  if error_json ~= '' then redis.call('HSET', K.root, 'error', error_json) end
  if status == 'interrupted' or status == 'aborted' then
    local stop = r.stop and cjson.decode(r.stop) or {}
    redis.call('HSET', K.root, 'interrupted', cjson.encode({
      runId = r.run, mode = status == 'aborted' and 'abort' or 'interrupt', reason = reason, by = stop.by,
      at = who.now, checkpointId = r.checkpoint or cjson.null,
    }))
  end
  redis.call('HDEL', K.root, 'stop', 'resume', 'taken', 'deadline')
  redis.call('DEL', K.busy, K.writers)
  redis.call('HSET', K.runs, r.run, with_json(cjson.encode({
    runId = r.run, turn = tonumber(r.turn), status = status, stepCount = tonumber(r.committed),
    startSequence = tonumber(r.turnSeq), startedAt = tonumber(r.started), endedAt = who.now,
    usage = r.usage, finishReason = r.finishReason, mode = r.mode, by = r.by ~= '' and r.by or nil,
    startRow = tonumber(r.turnRow), messageId = r.messageId,
  }), 'output', r.output))
end

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

-- Leaves a stop record and tells the workers; true if a model speaks, which then ends the run.
local function request_stop(r, mode, record)
  if not r.stop or mode == 'abort' then
    redis.call('HSET', K.root, 'stop', record)
    r.stop = record
  end
  redis.call('SPUBLISH', K.stop, r.run)
  return redis.call('SISMEMBER', K.busy, 'model') == 1
end

-- Makes a run the session's newest, at work from here on; what belonged to the run before is forgotten.
-- run = { id, n, mode, by, turn, message, turnSeq, turnRow, seq: before its first entry, step: the last
-- one of its turn that is committed }; seq: of the newest entry.
local function start_run(run, seq, now)
  keep_for_ever()
  redis.call('DEL', K.busy, K.writers, K.order)
  redis.call('HDEL', K.root, 'stop', 'error', 'streamError', 'interrupted', 'resume', 'taken', 'snapTurn',
    'snapAt', 'usage', 'finishReason', 'output', 'children')
  local at = string.format('%d', seq)
  redis.call('HSET', K.root, 'run', run.id, 'runN', run.n, 'mode', run.mode, 'by', run.by, 'turn', run.turn,
    'status', 'starting', 'stream', 'active', 'messageId', run.message, 'turnSeq', string.format('%d', run.turnSeq),
    'turnRow', run.turnRow, 'runSeq', string.format('%d', run.seq), 'fromStep', run.step, 'outcome', '',
    'seq', at, 'pauseSeq', string.format('%d', run.seq), 'claimed', run.step, 'committed', run.step, 'started', now, 'updated', now)
end

-- What callers are told of the newest run: run, agent, turn, id of its message, sequence before the
-- turn, step behind which the run goes on, sequence before the run, when it began.
local function newest_run()
  return redis.call('HMGET', K.root, 'run', 'agent', 'turn', 'messageId', 'turnSeq', 'fromStep', 'runSeq', 'started')
end

-- Id of the session's next run, and its number.
local function next_run(r, sessionId, nonce)
  local n = tonumber(r.runN or '0') + 1
  return sessionId .. ':' .. string.format('%d', n) .. '-' .. nonce, n
end

-- The end of a run: run, session and stream become terminal together, expiry is armed. Sub-agents
-- at work end with it; the end of one is told by what becomes of its parent's call.
local function finish(r, log, who, status, error_json, reason, code)
  local own, below = K.root, {}
  walk(function()
    if K.root ~= own then table.insert(below, 1, own_part()) end
  end)
  for _, part in ipairs(below) do
    in_session(part, function()
      local c = root_table()
      local speaker = { agentId = CONVERSATION .. '.' .. part, agentType = c.agent, step = tonumber(c.committed), now = who.now }
      close_calls(log, speaker, code)
      take_in_results()
      close_run(c, speaker, status == 'completed' and 'interrupted' or status, '', reason)
      redis.call('HDEL', T.root, 'wake:' .. part)
    end)
  end
  close_calls(log, who, code)
  take_in_results()
  if r.output then log.write('', with_json(own_chunk(who, 'output', {}), 'output', r.output)) end
  if K.root ~= T.root then
    redis.call('HDEL', T.root, 'wake:' .. own_part())
    close_run(r, who, status, error_json, reason)
    note_deadline()
    return
  end
  local failure
  if status == 'interrupted' then
    log.write('', own_chunk(who, 'run_interrupted', {
      runId = r.run, checkpointId = r.checkpoint or cjson.null, reason = reason,
    }))
  elseif status == 'failed' or status == 'aborted' then
    local e = { code = 'framework_cancelled', message = 'The run was aborted.', retryable = false }
    if error_json ~= '' then e = cjson.decode(error_json) end
    failure = e.message
    log.write('', own_chunk(who, 'error', {
      error = e.message, code = e.code, recoverable = false,
      errorDetail = { message = e.message, code = e.code, retryable = e.retryable },
    }))
  end
  log.control(with_json(cjson.encode({
    type = 'stream_end', streamId = who.agentId, timestamp = who.now, status = status, error = failure,
  }), 'finalOutput', r.output))
  local stream = (status == 'failed' or status == 'aborted') and 'failed' or 'ended'
  redis.call('HSET', K.root, 'stream', stream)
  close_run(r, who, status, error_json, reason)
  -- Steering that came too late waits for a turn of its own.
  for at, json in ipairs(redis.call('LRANGE', K.queue, 0, -1)) do
    local entry = cjson.decode(json)
    if entry.mode == 'steer' then
      entry.mode = 'queue'
      redis.call('LSET', K.queue, at - 1, cjson.encode(entry))
    end
  end
  if redis.call('LLEN', K.queue) == 0 then arm_expiry(true) end
end

-- Ends a run as its stop record says.
local function finish_stopped(r, log, who)
  local stop = cjson.decode(r.stop)
  finish(r, log, who, stop.mode == 'abort' and 'aborted' or 'interrupted', '', stop.reason, 'run_stopped')
end

-- Makes a turn and its run for user messages. new = {sessionId, agent, nonce, now, cap, messages, waited,
-- mode and by: of a run that was asked for to go on after one that has ended}
local function make_run(r, log, new)
  local run, n = next_run(r, new.sessionId, new.nonce)
  local turn, mode = tonumber(r.turn or '0') + 1, new.mode or 'new'
  take_in_notices()
  local first, ui = store_messages(new.messages)
  if new.cap > 0 and redis.call('XLEN', K.stream) > new.cap then
    -- Whole old turns only; the turn before this one stays, somebody may be reading its end.
    trim_log(tonumber(r.turnSeq or '0'))
  end
  recount_controls()
  local start, message = log.seq, 'msg-' .. string.format('%d', ui)
  local who = { agentId = new.sessionId, agentType = new.agent, step = 0, now = tonumber(new.now) }
  if new.waited then
    log.write('', own_chunk(who, 'turn_started', {
      runId = run, messageId = message, messageIds = ids_of(new.messages), reason = 'queue',
    }))
  end
  if mode == 'with_message' then
    log.write('', own_chunk(who, 'run_resumed', {
      runId = run, fromCheckpointId = r.checkpoint or cjson.null, fromStepCount = tonumber(r.committed or '0'),
      mode = mode,
    }))
  end
  log.close()
  start_run({
    id = run, n = n, mode = mode, by = new.by or '', turn = turn, message = message, turnSeq = start, turnRow = first,
    seq = start, step = 0,
  }, log.seq, new.now)
  return run, turn, message, start
end
