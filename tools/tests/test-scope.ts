/**
 * Lets `node:test` find the test that a call, a hook or an uncaught error belongs to by asynchronous context, which
 * costs nothing, and not by an async hook, which is called for every promise of the service under test: about a tenth of
 * the CPU of a test. Import it before anything imports `node:test`. See docs/adr/0157-tests-without-async-hooks.md.
 */
import asyncHooks, { AsyncLocalStorage, AsyncResource, type AsyncResourceOptions } from 'node:async_hooks';

type Init = NonNullable<Parameters<typeof asyncHooks.createHook>[0]['init']>;

const scope = new AsyncLocalStorage<number>();
let init: Init | null = null;

/** What `node:test` derives its tests from: what runs in it is in its scope. */
class ScopedResource extends AsyncResource {
  constructor(type: string, options?: number | AsyncResourceOptions) {
    super(type, options);
    init?.(this.asyncId(), type, 0, this);
  }

  override runInAsyncScope<This, Result>(
    fn: (this: This, ...args: never[]) => Result,
    thisArg?: This,
    ...args: unknown[]
  ): Result {
    // Inside: a resource brings the context with it that it was made in.
    return super.runInAsyncScope(() => scope.run(this.asyncId(), () => Reflect.apply(fn, thisArg as This, args)));
  }
}

const { createHook, executionAsyncId } = asyncHooks;
Object.assign(asyncHooks, {
  AsyncResource: ScopedResource,
  executionAsyncId: () => scope.getStore() ?? 0,
  createHook: (callbacks: { init: Init }) => ({
    enable() {
      init = callbacks.init;
    },
    disable() {
      init = null;
    },
  }),
});
await import('node:test');
// For everybody else they are as they were.
Object.assign(asyncHooks, { AsyncResource, createHook, executionAsyncId });
