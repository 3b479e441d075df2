--[[ lease call: of several pages that could carry out a client tool, lets one do it for a while. It is a
     word among pages: answers are taken from anybody.
     ARGV 1 run  2 toolCallId  3 who asks  4 for how many ms
     -> ALREADY | NOT_PENDING | STALE | KIND     as with answers
        HELD ms                                  by somebody else, for so long
        LEASED ]]
local run, id = ARGV[1], ARGV[2]
find_owner(id)
local r = root_table()
local state, kind = call_field(id, 'state'), call_field(id, 'kind')
if state == 'settled' or redis.call('SISMEMBER', K.settled, id) == 1 then return { 'ALREADY' } end
if not kind then return { 'NOT_PENDING' } end
if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end
if kind ~= 'client' then return { 'KIND' } end
if state ~= 'waiting' then return { 'NOT_PENDING' } end
local now, until_ms, holder = store_now(), (call_field(id, 'lease') or ''):match('^(%d+) (.*)$')
if until_ms and holder ~= ARGV[3] and tonumber(until_ms) > now then return { 'HELD', tonumber(until_ms) - now } end
redis.call('HSET', K.calls, 'lease:' .. id, string.format('%d', now + tonumber(ARGV[4])) .. ' ' .. ARGV[3])
return { 'LEASED' }
