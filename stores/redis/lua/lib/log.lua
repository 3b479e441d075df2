--[[ The log of a session: entries under explicit ids, one publish for all that a script wrote.
     open_log(root, stream, channel, seq) -> log
       log.write(writer, json)  appends one entry under the next sequence
       log.close()              stores the sequence and publishes [prev, [ [seq, writer, chunk], ... ] ]
     The sequence lives in the root hash, so it survives the stream. ]]
local function open_log(root, stream, channel, seq)
  local log = { seq = seq, prev = seq, out = {} }
  function log.write(writer, json)
    log.seq = log.seq + 1
    local id = string.format('%d', log.seq)
    redis.call('XADD', stream, id .. '-0', 'w', writer, 'c', json)
    log.out[#log.out + 1] = '[' .. id .. ',"' .. writer .. '",' .. json .. ']'
  end
  function log.close()
    if #log.out == 0 then return end
    redis.call('HSET', root, 'seq', string.format('%d', log.seq))
    redis.call('SPUBLISH', channel,
      '[' .. string.format('%d', log.prev) .. ',[' .. table.concat(log.out, ',') .. ']]')
  end
  return log
end

local TERMINAL = { completed = true, failed = true, interrupted = true, aborted = true }
