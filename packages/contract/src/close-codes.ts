import { type CloseCode, closeReactions } from './close-reactions.ts';

const row = <C extends CloseCode>(code: C, meaning: string) => ({ meaning, client: closeReactions[code] });

export const closeCodes = {
  1000: row(1000, 'normal'),
  1001: row(1001, 'going away'),
  1009: row(1009, 'frame too large'),
  4400: row(4400, 'malformed or unknown protocol'),
  4401: row(4401, 'token missing, invalid or expired'),
  4403: row(4403, 'origin, scope or permission refused'),
  4404: row(4404, 'room or conversation gone'),
  4408: row(4408, 'no authentication in time, heartbeat lost or slow consumer'),
  4409: row(4409, 'duplicate identity took over'),
  4410: row(4410, 'kicked, token revoked, room closed or stream ended'),
  4422: row(4422, 'room full'),
  4429: row(4429, 'connection or message limit'),
  4500: row(4500, 'server fault'),
  4503: row(4503, 'draining or no media node'),
} satisfies { [C in CloseCode]: { meaning: string; client: (typeof closeReactions)[C] } };
