import { fail, type ServerFrameTable, ServiceError } from '@parley/contract';
import type { SocketSession } from '../../core/socket.ts';
import type { Times } from '../deadlines.ts';
import { type RawFrame, readFrame } from '../frame-reader.ts';
import { type ConnectionDeps, type Definition, endOf, type Owner, type State, type Visitor } from './state.ts';

const authTimeoutMs = 5_000;

/** Until the client's token is checked: of the upgrade request, or of the first frame. */
export class AwaitingAuth<S extends SocketSession, V extends ServerFrameTable> implements State {
  readonly is = 'awaitingAuth';
  readonly #owner: Owner<S, V>;
  readonly #visitor: Visitor;
  readonly #hasFirst: boolean;
  readonly #onLeft: () => void;
  readonly #deadline: number;
  #isChecking = false;

  constructor(owner: Owner<S, V>, visitor: Visitor, hasFirst: boolean, onLeft: () => void) {
    this.#owner = owner;
    this.#visitor = visitor;
    this.#hasFirst = hasFirst;
    this.#onLeft = onLeft;
    this.#deadline = owner.heardAt + authTimeoutMs;
  }

  receive(bytes: Buffer): void {
    let frame: RawFrame;
    try {
      frame = readFrame(bytes);
    } catch (error) {
      // From somebody we do not know, one is enough.
      this.#owner.sendError(error, { id: null }, endOf);
      return;
    }
    this.#owner.admit(frame);
  }

  async handle(frame: RawFrame): Promise<void> {
    await this.#authenticateBy(frame);
    // The frame of the token is a frame like any other once it has opened the connection.
    if (this.#owner.state.is === 'open') await this.#owner.state.handle(frame);
  }

  async #authenticateBy({ type, id, fields }: RawFrame): Promise<void> {
    const token = fields['token'];
    if (type === this.#owner.definition.authFrame && typeof token === 'string') return this.authenticate(token, id);
    this.#owner.sendError(new ServiceError('SVC_UNAUTHENTICATED'), { id }, endOf);
  }

  async authenticate(token: string, ref: string | null): Promise<void> {
    const owner = this.#owner;
    this.#isChecking = true;
    try {
      const session = await authenticatedSession(owner.definition, token, this.#visitor, owner.deps);
      // The client may have disconnected by now.
      if (owner.state === this) owner.open(session, this.#hasFirst);
    } catch (error) {
      owner.sendError(error, { id: ref }, endOf);
    }
  }

  tick({ elapsed }: Times): void {
    if (elapsed >= this.#deadline && !this.#isChecking) this.#owner.close(4408, 'AUTH_TIMEOUT');
  }

  dueAt({ elapsed }: Times): number {
    return Math.max(this.#deadline, elapsed);
  }

  leave(): void {
    this.#onLeft();
  }
}

/** The session behind the token, if this visitor may open it. */
async function authenticatedSession<S extends SocketSession, V extends ServerFrameTable>(
  { authenticate, connectBudget }: Pick<Definition<S, V>, 'authenticate' | 'connectBudget'>,
  token: string,
  { origin }: Visitor,
  { rateLimiter, isOriginAllowed }: ConnectionDeps,
): Promise<S> {
  const session = await authenticate(token);
  if (origin !== null && !(await isOriginAllowed(session.projectId, origin))) fail('SVC_ORIGIN_NOT_ALLOWED');
  if (connectBudget) await rateLimiter.spendFor(connectBudget, session, session.subject);
  return session;
}
