import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type ReceivedRequest, startReceiver, type TestReceiver } from './receiver.ts';

/** Google's two doors: access tokens for service accounts, and FCM's HTTP v1 interface, which takes no others. */
export interface FcmService {
  tokenUrl: string;
  apiUrl: string;
  /** Access tokens given. */
  tokens: string[];
  /** Messages that came with a good token, by their path. */
  messages: { path: string; message: Record<string, unknown> }[];
  /** What to answer to a message, by the device's token; 200 unless it says otherwise. */
  answers: Map<string, { status: number; body?: string; headers?: Record<string, string>; afterMs?: number }[]>;
  /** Every access token is void from now on. */
  withdraw(): void;
  close(): Promise<void>;
}

export const unregistered = {
  status: 404,
  body: JSON.stringify({
    error: {
      code: 404,
      message: 'Requested entity was not found.',
      status: 'NOT_FOUND',
      details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'UNREGISTERED' }],
    },
  }),
};

export async function startFcmService(publicKey: KeyObject, email: string): Promise<FcmService> {
  const good = new Set<string>();
  const receiver: TestReceiver = await startReceiver((request) =>
    request.path === '/token' ? giveToken(request) : takeMessage(request),
  );
  const origin = `http://127.0.0.1:${receiver.port}`;
  const json = (status: number, body: object) => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

  /** RFC 7523, checked as Google does. */
  function giveToken({ body }: ReceivedRequest) {
    const form = new URLSearchParams(body.toString());
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const told = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    const isSigned = verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
      Buffer.from(signature, 'base64url'),
    );
    const isRight =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      told['iss'] === email &&
      told['aud'] === service.tokenUrl &&
      told['scope'] === 'https://www.googleapis.com/auth/firebase.messaging' &&
      Number(told['exp']) - Number(told['iat']) <= 3_600;
    if (!isSigned || !isRight) return json(400, { error: 'invalid_grant' });
    const token = `ya29.${service.tokens.length}`;
    service.tokens.push(token);
    good.add(token);
    return json(200, { access_token: token, expires_in: 3_599, token_type: 'Bearer' });
  }

  function takeMessage({ path, headers, body }: ReceivedRequest) {
    const bearer = String(headers['authorization']).replace('Bearer ', '');
    if (!good.has(bearer)) return json(401, { error: { status: 'UNAUTHENTICATED' } });
    const { message } = JSON.parse(body.toString()) as { message: Record<string, unknown> };
    service.messages.push({ path, message });
    return service.answers.get(String(message['token']))?.shift() ?? json(200, { name: 'projects/x/messages/1' });
  }

  const service: FcmService = {
    tokenUrl: `${origin}/token`,
    apiUrl: origin,
    tokens: [],
    messages: [],
    answers: new Map(),
    withdraw: () => good.clear(),
    close: () => receiver.close(),
  };
  return service;
}
