// The defences of messages that wait; see mutations.mjs.
const LUA = 'stores/redis/lua';

export const queue = [
  {
    defence: 'What waits is not overtaken',
    file: `${LUA}/begin.lua`,
    edits: [
      ['if (at_work and not abandons) or waiting > 0 then', 'if at_work and not abandons then'],
    ],
    test: 'queue is not overtaken: a new message goes behind what waits, or is refused',
  },
  {
    defence: 'What waits goes before a message that abandons a question',
    file: `${LUA}/begin.lua`,
    edits: [["if waiting > 0 and policy ~= 'interrupt' then", 'if false then']],
    test: 'queue goes before a message that abandons a question',
  },
  {
    defence: 'A queue has its bound',
    file: `${LUA}/begin.lua`,
    edits: [["  if waiting >= tonumber(ARGV[9]) then return { 'QUEUE_FULL' } end\n", '']],
    test: 'queue takes so many entries and no more',
  },
  {
    defence: 'A queued message is accepted once',
    file: `${LUA}/begin.lua`,
    edits: [
      [
        "for _, message in ipairs(fresh) do redis.call('HSET', K.messages, message.id, message.hash) end\n",
        '',
      ],
    ],
    test: 'queue accepts a message once, however it waits',
  },
  {
    defence: 'One run per session, also from the queue',
    file: `${LUA}/begin-queued.lua`,
    edits: [["if r.status and not TERMINAL[r.status] then return { 'BUSY' } end\n", '']],
    test: 'queue begins once for one nonce, and for one of many who come at once',
  },
  {
    defence: 'A queued run is begun once for one nonce',
    file: `${LUA}/begin-queued.lua`,
    edits: [["if r.run and r.run:sub(-#ARGV[2] - 1) == '-' .. ARGV[2] then", 'if false then']],
    test: 'queue begins once for one nonce, and for one of many who come at once',
  },
  {
    defence: 'An edit changes what was read',
    file: `${LUA}/edit-queued.lua`,
    edits: [["      if message.hash ~= ARGV[3] then return { 'STALE' } end\n", '']],
    test: 'queue lets a message that is edited be what is answered',
  },
  {
    defence: 'A removed message can be sent again',
    file: `${LUA}/remove-queued.lua`,
    edits: [["      redis.call('HDEL', K.messages, id)\n", '']],
    test: 'queue forgets what is removed: it can be sent again',
  },
  {
    defence: 'Steering at the last moment is not lost',
    file: `${LUA}/commit.lua`,
    edits: [["ARGV[12] == 'completed' and steering_waits() and", 'false and']],
    test: 'steer that is there when the run would end gives it another step',
  },
  {
    defence: 'Steering waits for a reply that it can close',
    file: `${LUA}/lib/queue.lua`,
    edits: [['if r.replied ~= r.turn or not steering_waits()', 'if not steering_waits()']],
    test: 'steer waits until the reply at work has begun',
  },
  {
    defence: 'Steering that came too late is queued',
    file: `${LUA}/lib/runs.lua`,
    edits: [
      [
        "    if entry.mode == 'steer' then\n      entry.mode",
        '    if false then\n      entry.mode',
      ],
    ],
    test: 'steer of a run that fails or is stopped is queued, before what was queued',
  },
];
