import { LiveStream } from '@parley/client';
import { Chat, StreamPlayer, useStream } from '@parley/react';
import { useState } from 'react';

export function Watch({ streamId, userId }: { streamId: string; userId: string }) {
  const [stream] = useState(
    () =>
      new LiveStream({
        url: 'https://rtc.example.com',
        credentials: () => fetch(`/api/streams/${streamId}/viewer`, { method: 'POST' }).then((r) => r.json()),
      }),
  );
  const { conversation } = useStream(stream);
  return (
    <>
      <StreamPlayer stream={stream} />
      <Chat conversation={conversation} userId={userId} />
    </>
  );
}
