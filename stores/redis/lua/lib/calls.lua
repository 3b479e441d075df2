-- Calls of the newest step, and what becomes rows.

local function call_field(id, field)
  return redis.call('HGET', K.calls, field .. ':' .. id)
end

-- A sub-agent's call is found by its id: answers are given to the conversation.
local function own_call_id(id)
  local owner = redis.call('HGET', K.owners, id)
  if not owner or owner:match('^%S+') ~= own_part() then redis.call('HSET', K.owners, id, own_part()) end
end

-- Adds what a model call, or a sub-agent, used to the run's totals: tokens in, out, cached, written
-- to the cache, of reasoning, and millionths of a dollar. Nothing to add: ''.
local function add_usage(more)
  if more == '' then return end
  local sums, before = {}, (redis.call('HGET', K.root, 'usage') or '0 0 0 0 0 0'):gmatch('%d+')
  for n in more:gmatch('%d+') do
    sums[#sums + 1] = string.format('%d', tonumber(n) + tonumber(before() or '0'))
  end
  redis.call('HSET', K.root, 'usage', table.concat(sums, ' '))
end

local function settle_row(id, row)
  local child = call_field(id, 'child')
  if child then
    add_usage(in_session(child, function() return redis.call('HGET', K.root, 'usage') end) or '')
  end
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

-- What the newest attempt of a call said of one type, in order: { chunk, json, sequence }.
local function said_by_call(id, type)
  local writer, said = 't:' .. id, {}
  local first = redis.call('HGET', K.writers, 'f:' .. writer)
  if not first then return said end
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '(' .. first .. '-0', '+')) do
    local json = entry[2][4]
    if entry[2][2] == writer and json:find('"' .. type .. '"', 1, true) then
      local chunk = cjson.decode(json)
      if chunk.type == type then
        said[#said + 1] = { chunk = chunk, json = json, sequence = entry[1]:match('^%d+') }
      end
    end
  end
  return said
end

-- Takes back what a call showed of changes that will never be made, the newest first.
local function undo_patches(log, who, id)
  local undos = {}
  for _, patch in ipairs(said_by_call(id, 'state_patch')) do
    if patch.chunk.undo then table.insert(undos, 1, patch.chunk.undo) end
  end
  for _, undo in ipairs(undos) do log.write('', with_json(own_chunk(who, 'state_patch', {}), 'patches', undo)) end
end

-- A row with what its call said beside its result: history shows that, too.
local function with_events(id, row)
  local events = {}
  for _, event in ipairs(said_by_call(id, 'custom')) do
    if not event.chunk.transient then
      events[#events + 1] = '{"sequence":' .. event.sequence .. ',"chunk":' .. event.json .. '}'
    end
  end
  return with_json(row, 'events', #events > 0 and '[' .. table.concat(events, ',') .. ']')
end

-- Settles a call by a code of CODE_TEXT.
local function settle_by_code(log, who, id, code)
  local name, kind = call_field(id, 'name'), call_field(id, 'kind')
  if code == 'tool_outcome_unknown' then undo_patches(log, who, id) end
  local asked = call_field(id, 'decision')
  local decision = asked and cjson.decode(asked) or cjson.decode(call_field(id, 'spec')).decision
  local row = cjson.encode({
    role = 'tool', toolCallId = id, toolName = name, error = CODE_TEXT[code], errorCode = code,
    decision = decision,
  })
  settle_row(id, call_field(id, 'state') == 'started' and with_events(id, row) or row)
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
