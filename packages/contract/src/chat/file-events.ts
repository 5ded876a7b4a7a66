import { eventRows } from '../events.ts';
import { AttachmentScanned } from './file-schemas.ts';

export const chatFileEvents = eventRows({
  'attachment.scanned': {
    since: '0.1.0',
    when: 'A scan of an attachment ended: it can be fetched, or never.',
    data: AttachmentScanned,
  },
});
