/** What a notification says. Who wrote and how it begins are there only where the settings of the environment say so. */
export interface PushMessage {
  title: string;
  body?: string;
  conversationId: string;
  messageId: string;
  /** `true` when it mentions the user. */
  mention: string;
  senderId?: string;
}

export interface PushWorkerOptions {
  /** The page of a conversation, opened by a click. Default: where the worker is at home. */
  pageOf?: (message: PushMessage) => string;
  /** What is shown; null for nothing, which browsers allow only while a page of yours is seen. */
  show?: (message: PushMessage) => (NotificationOptions & { title: string }) | null;
  icon?: string;
}

interface WindowOfPage {
  readonly focused: boolean;
  postMessage(message: unknown): void;
  focus(): Promise<unknown>;
  navigate?(url: string): Promise<unknown>;
}

interface WorkEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface PushEventOf extends WorkEvent {
  readonly data: { json(): unknown } | null;
}

interface ClickEventOf extends WorkEvent {
  readonly notification: { readonly data: unknown; close(): void };
}

/** What a service worker has of its surroundings: TypeScript knows a page or a worker, never both. */
export interface PushWorkerScope {
  readonly registration: {
    readonly scope: string;
    showNotification(title: string, options: NotificationOptions): Promise<void>;
  };
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly WindowOfPage[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener(type: 'push', listener: (event: PushEventOf) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: ClickEventOf) => void): void;
}

/**
 * Shows a notification for each conversation, the newest message of it, and opens its page on a click. A page that has
 * the focus gets the message (`{ type: 'parley.push', message }`) and shows what it likes. Call it at the top of your
 * service worker.
 */
export function servePush(
  options: PushWorkerOptions = {},
  scope: PushWorkerScope = globalThis as unknown as PushWorkerScope,
): void {
  const { pageOf = () => scope.registration.scope, show = shownAs, icon } = options;
  const windows = () => scope.clients.matchAll({ type: 'window', includeUncontrolled: true });

  async function receive(message: PushMessage): Promise<void> {
    const focused = (await windows()).find((page) => page.focused);
    if (focused) return focused.postMessage({ type: 'parley.push', message });
    const shown = show(message);
    if (shown === null) return;
    const { title, ...rest } = shown;
    // One with the same tag takes the place of the one before it.
    const options = { tag: message.conversationId, renotify: true, data: message, ...(icon ? { icon } : {}), ...rest };
    await scope.registration.showNotification(title, options);
  }

  async function open(message: PushMessage): Promise<void> {
    const url = pageOf(message);
    const [page] = await windows();
    if (!page) return void (await scope.clients.openWindow(url));
    await page.focus();
    await page.navigate?.(url);
  }

  scope.addEventListener('push', (event) => {
    const message = messageIn(event.data);
    if (message) event.waitUntil(receive(message));
  });
  scope.addEventListener('notificationclick', (event) => {
    event.notification.close();
    const { data } = event.notification;
    if (isMessage(data)) event.waitUntil(open(data));
  });
}

const shownAs = ({ title, body }: PushMessage) => ({ title, ...(body === undefined ? {} : { body }) });

/** Your worker may get messages of others too. */
function messageIn(data: PushEventOf['data']): PushMessage | null {
  try {
    const message = data?.json();
    return isMessage(message) ? message : null;
  } catch {
    return null;
  }
}

const isMessage = (value: unknown): value is PushMessage =>
  typeof value === 'object' && value !== null && 'conversationId' in value && 'messageId' in value && 'title' in value;
