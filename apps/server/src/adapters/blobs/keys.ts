const pattern = /^[a-z0-9_-]+(\/[a-z0-9_-]+)*$/;

/** Keys are made by us. One that is not is a bug, and must never become a path or a URL. */
export function assertBlobKey(key: string): void {
  if (!pattern.test(key)) throw new Error(`not a blob key: ${key}`);
}
