// The defences of messages that wait; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';

export const queue = [
  {
    defence: 'What waits is not overtaken',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if ((isActive && !abandons) || waiting > 0) {', 'if (isActive && !abandons) {']],
    test: 'queue is not overtaken: a new message goes behind what waits, or is refused',
  },
  {
    defence: 'What waits goes before a message that abandons a question',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["if (waiting > 0 && policy !== 'interrupt') {", 'if (false) {']],
    test: 'queue goes before a message that abandons a question',
  },
  {
    defence: 'A queue has its bound',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["    if (waiting >= request.mostQueued) return only('queue_full');\n", '']],
    test: 'queue takes so many entries and no more',
  },
  {
    defence: 'A queued message is accepted once',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['  accept(session, fresh);\n', '']],
    test: 'queue accepts a message once, however it waits',
  },
  {
    defence: 'One run per session, also from the queue',
    file: `${TRANSITIONS}/begin-queued.ts`,
    edits: [["  if (isLive(root.status)) return only('busy');\n", '']],
    test: 'queue begins once for one nonce, and for one of many who come at once',
  },
  {
    defence: 'A queued run is begun once for one nonce',
    file: `${TRANSITIONS}/begin-queued.ts`,
    edits: [['if (isRunOf(root.run, nonce)) {', 'if (false) {']],
    test: 'queue begins once for one nonce, and for one of many who come at once',
  },
  {
    defence: 'An edit changes what was read',
    file: `${TRANSITIONS}/edit-queued.ts`,
    edits: [["      if (message.hash !== expectedHash) return only('stale');\n", '']],
    test: 'queue lets a message that is edited be what is answered',
  },
  {
    defence: 'A removed message can be sent again',
    file: `${TRANSITIONS}/remove-queued.ts`,
    edits: [["    redis.call('HDEL', session.messages, ...ids);\n", '']],
    test: 'queue forgets what is removed: it can be sent again',
  },
  {
    defence: 'Steering at the last moment is not lost',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [["request.status === 'completed' && steeringWaits(session)", 'false']],
    test: 'steer that is there when the run would end gives it another step',
  },
  {
    defence: 'Steering waits for a reply that it can close',
    file: `${TRANSITIONS}/lib/queue.ts`,
    edits: [['root.replied !== root.turn || ', '']],
    test: 'steer waits until the reply at work has begun',
  },
  {
    defence: 'Steering that came too late is queued',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [['else queueSteering(session);', '']],
    test: 'steer of a run that fails or is stopped is queued, before what was queued',
  },
];
