/** The configuration cannot be used; the message is a sentence that names the variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
