import { LiveStream } from '@parley/client';
import { id, showMessage, stage } from './page.ts';

const live = new LiveStream({
  url: location.origin,
  credentials: () => fetch(`/api/streams/${id}/viewer`, { method: 'POST' }).then((r) => r.json()),
});
live.room.on('trackSubscribed', (t) => stage.append(t.attach()));
await live.join();
live.chat.on('message', showMessage);
await live.chat.send('Hi from a viewer');
addEventListener('pagehide', () => live.leave());
