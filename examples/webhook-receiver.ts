import { verifyWebhook, WebhookVerificationError } from '@parley/server';
import { onEnded, onMessage } from './application.ts';

const seen = new Set<string>(); // use your database in production
export async function POST(req: Request) {
  const raw = new Uint8Array(await req.arrayBuffer());
  try {
    const event = verifyWebhook(raw, req.headers, [process.env.HOOK_SECRET!]);
    if (seen.has(event.id)) return new Response(null, { status: 204 });
    seen.add(event.id);
    switch (event.type) {
      case 'message.created':
        queueMicrotask(() => onMessage(event.data));
        break;
      case 'live_stream.ended':
        queueMicrotask(() => onEnded(event.data));
        break;
    }
    return new Response(null, { status: 204 });
  } catch (e) {
    if (e instanceof WebhookVerificationError) return new Response(e.code, { status: 400 });
    throw e;
  }
}
