/** Items of a list, with the cursor of the next page; null at the end. */
export type Page<T> = T[] & { readonly nextCursor: string | null };

/** `await` gives the first page; `for await` gives every item of every page, each page when it is needed. */
export interface List<P, T> extends Promise<P>, AsyncIterable<T> {}

export interface Step<P, T> {
  page: P;
  items: readonly T[];
  /** Asks for the next page; null at the end. */
  next: (() => Promise<Step<P, T>>) | null;
}

/** A list that asks for nothing before it is awaited or iterated. */
export class LazyList<P, T> implements List<P, T> {
  readonly [Symbol.toStringTag] = 'List';
  readonly #begin: () => Promise<Step<P, T>>;
  #first: Promise<Step<P, T>> | null = null;

  constructor(begin: () => Promise<Step<P, T>>) {
    this.#begin = begin;
  }

  #start(): Promise<Step<P, T>> {
    this.#first ??= this.#begin();
    return this.#first;
  }

  #page(): Promise<P> {
    return this.#start().then(({ page }) => page);
  }

  // biome-ignore lint/suspicious/noThenProperty: being awaited is what it is for.
  then<A = P, B = never>(
    onFulfilled?: ((page: P) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#page().then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<P | B> {
    return this.#page().catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<P> {
    return this.#page().finally(onFinally);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (let step: Step<P, T> | null = await this.#start(); step !== null; ) {
      yield* step.items;
      step = step.next === null ? null : await step.next();
    }
  }
}
