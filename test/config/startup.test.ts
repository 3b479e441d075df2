import { withoutSecrets } from '../../config/startup.js';

describe('an address that is shown', () => {
  it('a printed address has neither user nor password', () => {
    expect(withoutSecrets('redis://me:secret@host:6379/2')).toBe('redis://host:6379/2');
    expect(withoutSecrets('redis://host:6379')).toBe('redis://host:6379');
    expect(withoutSecrets('rediss://host?password=secret&ca=/ca.pem')).toBe('rediss://host');
    expect(withoutSecrets('redis-cluster://me:s@cret@a:1,b:2')).toBe('redis-cluster://a:1,b:2');
    expect(withoutSecrets('redis-sentinel://a:1,b:2/main')).toBe('redis-sentinel://a:1,b:2/main');
  });
});
