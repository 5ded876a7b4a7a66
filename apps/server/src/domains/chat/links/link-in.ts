const lengthMax = 1_000;
const address = /https?:\/\/[^\s<>"\\^`{|}\p{Cc}]{1,1000}/iu;

/** The first link of a text that says itself that it is one; without what ends the sentence around it. */
export function linkIn(text: string): string | undefined {
  const found = address.exec(text)?.[0].replace(/[.,;:!?'")\]*_~]{1,20}$/, '');
  const url = found === undefined ? null : URL.parse(found);
  const isWeb = url !== null && url.username === '' && url.password === '' && url.hostname.includes('.');
  if (url === null || !(isWeb || url.hostname === 'localhost')) return undefined;
  url.hash = '';
  return url.href.length <= lengthMax ? url.href : undefined;
}
