--[[ extend deadline: gives people more time to answer a call.
     ARGV 1 run  2 toolCallId  3 ms to add  4 ms: how far ahead a deadline may lie  5 now
     -> ALREADY | NOT_PENDING | STALE
        NO_DEADLINE           it has none, or its clock does not run yet
        EXPIRED | TOO_FAR
        EXTENDED deadline ms-until-then ]]
local run, id = ARGV[1], ARGV[2]
find_owner(id)
local r = root_table()
local state, kind = call_field(id, 'state'), call_field(id, 'kind')
if call_field(id, 'late') == '1' or call_field(id, 'lapsed') then return { 'EXPIRED' } end
if state == 'settled' or redis.call('SISMEMBER', K.settled, id) == 1 then return { 'ALREADY' } end
if kind ~= 'approval' and kind ~= 'client' then return { 'NOT_PENDING' } end
if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end
if state ~= 'waiting' then return { 'ALREADY' } end
local deadline = tonumber(call_field(id, 'deadline') or '')
if not deadline then return { 'NO_DEADLINE' } end
local now = store_now()
if now >= deadline then return { 'EXPIRED' } end
deadline = deadline + tonumber(ARGV[3])
if deadline > now + tonumber(ARGV[4]) then return { 'TOO_FAR' } end
redis.call('HSET', K.calls, 'deadline:' .. id, string.format('%d', deadline))
redis.call('HSET', K.root, 'updated', ARGV[5])
redis.call('HSET', T.root, 'updated', ARGV[5])
note_deadline()
return { 'EXTENDED', deadline, deadline - now }
