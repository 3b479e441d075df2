import type { Notice } from '../../../../protocol/notices.js';
import { createAnnounceFailure } from '../../../../extensions/notify/activities.js';

it('others are notified of a delivery that failed, which is counted', async () => {
  const announced: Notice[] = [];
  const counted: object[] = [];
  const fail = createAnnounceFailure(
    { announce: async (notice) => void announced.push(notice) },
    (event) => void counted.push(event),
  );
  const failed = { receiver: 'hook', code: 'not_delivered' };
  await fail({ notice: { id: 'msg_2', type: 'run.failed', at: 1, tenant: 'acme' }, ...failed });
  expect(announced).toMatchObject([{ type: 'delivery.failed', tenant: 'acme', receiver: 'hook' }]);
  expect(counted).toMatchObject([{ type: 'run.failed' }]);
});
