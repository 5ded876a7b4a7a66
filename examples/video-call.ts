import { Room } from '@parley/client';

const room = new Room({
  url: location.origin,
  token: () => fetch('/api/room-token').then((r) => r.text()),
});
room.on('trackSubscribed', (track, from) => {
  const el = track.attach();
  el.dataset.identity = from.identity;
  document.querySelector('#grid')!.append(el);
});
room.on('trackUnsubscribed', (track) => track.detach());
room.on('connectionStateChanged', (state, _prev, error) => {
  document.body.dataset.connection = state;
  if (state === 'disconnected' && error) console.warn(error.reason, error.requestId);
});
await room.connect({ timeoutMs: 10_000 });
await room.self.setMicrophone(true);
await room.self.setCamera(true);
