--[[ truncate: removes chunks of steps above a bound and tells attached readers.
     ARGV 1 streamId  2 step  3 sequence up to which everything stays  4 agentId or ''  5 now
     -> removed, sequence before, sequence of the last removed or 0 ]]
local PAGE = 500
local bound, agent = tonumber(ARGV[2]), ARGV[4]
local r = root_table()
local from, removed, last = ARGV[3], 0, 0
repeat
  local page = redis.call('XRANGE', K.stream, '(' .. from .. '-0', '+', 'COUNT', PAGE)
  for _, entry in ipairs(page) do
    from = entry[1]:match('^%d+')
    -- A foreign value is not ours to remove.
    local ok, chunk = pcall(cjson.decode, entry[2][4] or '')
    if ok and type(chunk) == 'table' and (tonumber(chunk.step) or 0) > bound
      and (agent == '' or chunk.agentId == agent) then
      redis.call('XDEL', K.stream, entry[1])
      removed, last = removed + 1, tonumber(from)
    end
  end
until #page < PAGE
local before = tonumber(r.seq or '0')
if removed > 0 then
  local log = open_session_log(r)
  log.control(cjson.encode({
    type = 'stream_truncated', streamId = ARGV[1], timestamp = tonumber(ARGV[5]), truncatedAtStep = bound,
    atSequence = before, lastRemoved = last,
  }))
  log.close()
end
return { removed, before, last }
