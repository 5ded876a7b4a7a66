import { createHash, createPublicKey, type JsonWebKey, type KeyObject, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { collect } from './receiver.ts';
import type { TestAuthority } from './tls-receiver.ts';

/** A certificate authority that speaks ACME (RFC 8555) and validates by connecting back, over TLS (RFC 8737) or http. */
export interface AcmeServer {
  directoryUrl: string;
  /** Where it connects to, whatever the name. */
  validationPort: number;
  /** The same for http-01; 0 while that is not offered. */
  httpPort: number;
  offersTlsAlpn: boolean;
  /** Whether it connects to nobody, as when the name is not ours. */
  isBlind: boolean;
  /** Whether it cannot come by TLS, as when a balancer ends it. */
  isBlindOverTls: boolean;
  /** The kinds of challenges that were answered, in turn. */
  readonly validations: string[];
  /** How long what it signs is valid. */
  days: number;
  /** How often each authorization and order is read before it says how it ended. */
  pendingReads: number;
  /** Refuses orders with this detail. */
  refusal: string | null;
  readonly accounts: number;
  readonly issued: number;
  close(): Promise<void>;
}

interface Account {
  url: string;
  key: KeyObject;
  thumbprint: string;
}

interface Order {
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  name: string;
  token: string;
  account: Account;
  authorization: 'pending' | 'valid' | 'invalid';
  error?: { type: string; detail: string };
  certificate?: string;
  /** Reads since something about it changed. */
  reads: number;
}

/** A request that was verified: who it is of, and what it says. */
interface Signed {
  account: Account | null;
  key: KeyObject;
  jwk: JsonWebKey | null;
  payload: unknown;
}

class Problem extends Error {
  readonly type: string;
  readonly status: number;
  constructor(type: string, detail: string, status = 400) {
    super(detail);
    this.type = type;
    this.status = status;
  }
}

const newId = (): string => randomBytes(8).toString('hex');
const fromBase64 = (text: unknown): string => Buffer.from(String(text), 'base64url').toString();

const thumbprintOf = ({ crv, kty, x, y }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');

/** What the certificate of a validation has to hold: critical, and the digest in an octet string. */
const identifierOf = (digest: Buffer): Buffer =>
  Buffer.concat([Buffer.from('06082b0601050507011f0101ff04220420', 'hex'), digest]);

/** RFC 8555, 8.3. */
async function validateByHttp(port: number, { name, token, account }: Order): Promise<string | null> {
  const asking = request({
    host: '127.0.0.1',
    port,
    path: `/.well-known/acme-challenge/${token}`,
    headers: { host: name },
  });
  try {
    const answered = once(asking, 'response');
    asking.end();
    const [response] = (await answered) as [IncomingMessage];
    const text = (await collect(response)).toString();
    return text === `${token}.${account.thumbprint}` ? null : `answered ${response.statusCode}: ${text.slice(0, 100)}`;
  } catch (error) {
    return `could not connect: ${(error as Error).message}`;
  }
}

async function validate(port: number, { name, token, account }: Order): Promise<string | null> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    servername: name,
    ALPNProtocols: ['acme-tls/1'],
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect');
    const { raw, subjectaltname } = socket.getPeerCertificate();
    const digest = createHash('sha256').update(`${token}.${account.thumbprint}`).digest();
    if (socket.alpnProtocol !== 'acme-tls/1') return 'acme-tls/1 was not negotiated';
    if (subjectaltname !== `DNS:${name}`) return `the certificate is for ${subjectaltname}`;
    return raw.includes(identifierOf(digest)) ? null : 'the certificate does not hold the key authorization';
  } catch (error) {
    return `could not connect: ${(error as Error).message}`;
  } finally {
    socket.destroy();
  }
}

export async function startAcmeServer(authority: TestAuthority): Promise<AcmeServer> {
  const nonces = new Set<string>();
  const accounts = new Map<string, Account>();
  const orders = new Map<string, Order>();
  let issued = 0;
  let url = '';

  const newNonce = (): string => {
    const nonce = newId();
    nonces.add(nonce);
    return nonce;
  };

  function verified(text: string, path: string): Signed {
    const { protected: header, payload, signature } = JSON.parse(text) as Record<string, string>;
    const { alg, nonce, url: signedUrl, kid, jwk } = JSON.parse(fromBase64(header)) as Record<string, unknown>;
    if (!nonces.delete(String(nonce))) throw new Problem('badNonce', 'the nonce was used or is unknown');
    if (signedUrl !== `${url}${path}` || alg !== 'ES256') throw new Problem('malformed', 'signed for another url');
    const account = kid === undefined ? null : (accounts.get(String(kid)) ?? null);
    if (kid !== undefined && account === null) throw new Problem('accountDoesNotExist', 'no such account', 401);
    const key = account?.key ?? createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const isGood = verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature ?? '', 'base64url'),
    );
    if (!isGood) throw new Problem('unauthorized', 'the signature does not verify', 401);
    return {
      account,
      key,
      jwk: (jwk as JsonWebKey | undefined) ?? null,
      payload: payload === '' ? null : JSON.parse(fromBase64(payload)),
    };
  }

  function openAccount({ key, jwk, payload }: Signed): [location: string, body: object] {
    if (!(payload as { termsOfServiceAgreed?: boolean }).termsOfServiceAgreed)
      throw new Problem('userActionRequired', 'agree to the terms', 403);
    const thumbprint = thumbprintOf(jwk ?? {});
    const known = [...accounts.values()].find((account) => account.thumbprint === thumbprint);
    const account = known ?? { url: `${url}/account/${newId()}`, key, thumbprint };
    accounts.set(account.url, account);
    return [account.url, { status: 'valid' }];
  }

  function placeOrder({ account, payload }: Signed): [location: string, body: object] {
    if (!account) throw new Problem('unauthorized', 'sign as an account', 401);
    if (server.refusal !== null) throw new Problem('rejectedIdentifier', server.refusal, 403);
    const [identifier] = (payload as { identifiers: { value: string }[] }).identifiers;
    const id = newId();
    orders.set(id, {
      status: 'pending',
      name: identifier?.value ?? '',
      token: newId(),
      account,
      authorization: 'pending',
      reads: 0,
    });
    return [`${url}/order/${id}`, orderBody(id)];
  }

  const orderOf = (id: string): Order => {
    const order = orders.get(id);
    if (!order) throw new Problem('malformed', 'no such order', 404);
    return order;
  };

  const isEarly = (order: Order): boolean => order.reads++ < server.pendingReads;

  function orderBody(id: string): object {
    const order = orderOf(id);
    const { certificate } = order;
    return {
      status: order.status === 'valid' && isEarly(order) ? 'processing' : order.status,
      authorizations: [`${url}/authorization/${id}`],
      finalize: `${url}/finalize/${id}`,
      ...(certificate ? { certificate: `${url}/certificate/${id}` } : {}),
    };
  }

  function authorizationBody(id: string): object {
    const { token, name, error, ...order } = orderOf(id);
    const authorization = isEarly(orderOf(id)) ? 'pending' : order.authorization;
    const kinds = [...(server.offersTlsAlpn ? ['tls-alpn-01'] : []), ...(server.httpPort > 0 ? ['http-01'] : [])];
    const challenges = kinds.map((type) => ({
      type,
      url: `${url}/challenge/${id}/${type}`,
      token,
      status: authorization,
      error,
    }));
    const others = [{ type: 'dns-01', url: `${url}/none`, token, status: 'pending' }];
    return { status: authorization, identifier: { type: 'dns', value: name }, challenges: [...others, ...challenges] };
  }

  async function challenge(id: string, kind: string): Promise<object> {
    const order = orderOf(id);
    const isHttp = kind === 'http-01';
    server.validations.push(kind);
    const cannotConnect = server.isBlind || (server.isBlindOverTls && !isHttp);
    const problem = cannotConnect
      ? 'could not connect'
      : await (isHttp ? validateByHttp(server.httpPort, order) : validate(server.validationPort, order));
    order.reads = 0;
    order.authorization = problem === null ? 'valid' : 'invalid';
    order.status = problem === null ? 'ready' : 'invalid';
    if (problem !== null) order.error = { type: 'urn:ietf:params:acme:error:tls', detail: problem };
    return {};
  }

  async function finalize(id: string, { payload }: Signed): Promise<object> {
    const order = orderOf(id);
    if (order.status !== 'ready') throw new Problem('orderNotReady', `the order is ${order.status}`, 403);
    const der = Buffer.from((payload as { csr: string }).csr, 'base64url').toString('base64');
    const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE REQUEST-----\n`;
    order.certificate = await authority.sign(csr, server.days);
    order.status = 'valid';
    order.reads = 0;
    issued++;
    return orderBody(id);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const [, kind = '', id = '', detail = ''] = path.split('/');
    response.setHeader('replay-nonce', newNonce());
    const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (kind === 'directory')
      return void answer(200, {
        newNonce: `${url}/new-nonce`,
        newAccount: `${url}/new-account`,
        newOrder: `${url}/new-order`,
      });
    if (kind === 'new-nonce') return void response.writeHead(200).end();
    const signed = verified((await collect(request)).toString(), path);
    switch (kind) {
      case 'new-account':
      case 'new-order': {
        const [location, body] = kind === 'new-account' ? openAccount(signed) : placeOrder(signed);
        return void answer(201, body, { location });
      }
      case 'order':
        return void answer(200, orderBody(id));
      case 'authorization':
        return void answer(200, authorizationBody(id));
      case 'challenge':
        return void answer(200, await challenge(id, detail));
      case 'finalize':
        return void answer(200, await finalize(id, signed));
      default:
        return void response
          .writeHead(200, { 'content-type': 'application/pem-certificate-chain' })
          .end(orderOf(id).certificate);
    }
  }

  const http = createServer((request, response) => {
    serve(request, response).catch((error: Error) => {
      const { type, status } = error instanceof Problem ? error : new Problem('serverInternal', '', 500);
      response
        .writeHead(status, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: error.message }));
    });
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server = {
    directoryUrl: `${url}/directory`,
    validationPort: 0,
    isBlind: false,
    days: 90,
    pendingReads: 0,
    httpPort: 0,
    offersTlsAlpn: true,
    isBlindOverTls: false,
    validations: [] as string[],
    refusal: null as string | null,
    get accounts() {
      return accounts.size;
    },
    get issued() {
      return issued;
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}
