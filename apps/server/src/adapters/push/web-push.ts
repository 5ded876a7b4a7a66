import type { WebPushMaker } from '../../core/ports.ts';

/** Only makes the request: who sends it decides where it may go. Loaded with the first one. */
export const webPushMaker: WebPushMaker = {
  async requestOf({ endpoint, p256dh, auth, payload, topic, ttlSeconds, vapid }) {
    const { default: webPush } = await import('web-push');
    const { headers, body } = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, payload, {
      vapidDetails: vapid,
      contentEncoding: 'aes128gcm',
      urgency: 'high',
      TTL: ttlSeconds,
      topic,
    });
    return {
      headers: Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
      ),
      body: body ?? Buffer.alloc(0),
    };
  },
};
