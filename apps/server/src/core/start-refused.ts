/** The process cannot start, for a reason a person can mend: the message is one sentence that says how. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}
