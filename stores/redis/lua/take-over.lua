--[[ take over: makes the caller the owner of a run's writer that does not answer. What it wrote stays, and
     its next write is refused. Sent again it is another taking over, which is as good.
     ARGV 1 run  2 writer
     -> TAKEN token first    first: sequence before the first entry of the attempt
        NOTHING              nobody owns the writer
        SUPERSEDED           another run, or it has ended ]]
local r = root_table()
if r.run ~= ARGV[1] or TERMINAL[r.status] then return { 'SUPERSEDED' } end
local w = redis.call('HMGET', K.writers, 't:' .. ARGV[2], 'f:' .. ARGV[2])
if not w[1] then return { 'NOTHING' } end
local token = string.format('%d', tonumber(w[1]) + 1)
redis.call('HSET', K.writers, 't:' .. ARGV[2], token, 'b:' .. ARGV[2], 0, 's:' .. ARGV[2], 0)
return { 'TAKEN', token, w[2] }
