/** What is read on a page. Both functions run in the page: neither may use anything outside itself. */

interface Looks {
  /** How many texts were looked at. */
  texts: number;
  /** Those that axe has to judge; the texts that have one are marked with its number. */
  doubtful: string[];
}

/**
 * Text of one colour and size on one plain background is legible by the formula of WCAG 1.4.3, which costs nothing.
 * What is less, or lies on a picture, or may lie over something else, is marked for axe unless it is known.
 */
export function markDoubtfulLooks({ within, known }: { within: string; known: readonly string[] }): Looks {
  for (const marked of document.querySelectorAll('[data-new-look]')) marked.removeAttribute('data-new-look');
  type Colour = readonly [red: number, green: number, blue: number, alpha: number];
  const isKnown = new Set(known);
  const judged = new Map<string, boolean>();
  const doubtful: string[] = [];

  /** Null where it is written in another way, as `color(srgb …)`. */
  const parse = (colour: string): Colour | null => {
    const [, red, green, blue, alpha] = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(colour) ?? [];
    return blue === undefined ? null : [Number(red), Number(green), Number(blue), Number(alpha ?? 1)];
  };
  const over = (top: Colour, below: Colour): Colour => {
    const mix = (channel: 0 | 1 | 2): number => top[channel] * top[3] + below[channel] * (1 - top[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const luminance = (colour: Colour): number => {
    const linear = (channel: number): number =>
      channel <= 0.04045 * 255 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
  };
  const contrast = (one: Colour, other: Colour): number => {
    const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const isLegible = (style: CSSStyleDeclaration, backgrounds: readonly string[]): boolean => {
    const layers = backgrounds.map(parse);
    const colour = parse(style.color);
    const [bottom, ...rest] = layers.toReversed();
    if (!colour || bottom?.[3] !== 1) return false;
    let ground: Colour = bottom;
    for (const layer of rest) {
      if (!layer) return false;
      ground = over(layer, ground);
    }
    const size = Number.parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.7 && Number(style.fontWeight) >= 700);
    return contrast(over(colour, ground), ground) >= (isLarge ? 3 : 4.5);
  };
  /** In the middle of other words, and told from them by its colour at most. */
  const isBareLink = (text: Element): boolean => {
    const link = text.closest('a');
    if (!link || getComputedStyle(link).textDecorationLine.includes('underline')) return false;
    let block: Element | null = link;
    while (block && getComputedStyle(block).display.startsWith('inline')) block = block.parentElement;
    if (!block || block === link) return false;
    const linked = [...block.querySelectorAll('a')].map(({ textContent }) => textContent.length);
    return block.textContent.trim().length > linked.reduce((sum, length) => sum + length, 0);
  };
  const lookOf = (text: Element): string => {
    const style = getComputedStyle(text);
    const special = [isBareLink(text) ? 'link' : '', style.textShadow === 'none' ? '' : style.textShadow];
    const backgrounds: string[] = [];
    // Down to the first background that hides what is behind it.
    for (let box: Element | null = text; box; box = box.parentElement) {
      const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(box);
      if (opacity !== '1') special.push(`opacity ${opacity}`);
      if (backgroundImage !== 'none') special.push(backgroundImage);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)') backgrounds.push(backgroundColor);
      if (!/^rgba|\//.test(backgroundColor)) break;
      if (position === 'absolute' || position === 'fixed') special.push(position);
    }
    const look = [style.color, style.fontSize, style.fontWeight, ...special.filter(Boolean), ...backgrounds].join(' ');
    if (!judged.has(look)) judged.set(look, !special.some(Boolean) && isLegible(style, backgrounds));
    return look;
  };

  // Behind a dialog nothing is to be read; what is disabled need not be legible.
  const roots = document.querySelector('dialog:modal') ? 'dialog:modal' : within;
  /** Words for screen readers take no room; what jumps to the content waits above the page. */
  const isSeen = (element: Element): boolean => {
    const { width, height, right, bottom } = element.getBoundingClientRect();
    const isThere = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    return isThere && width > 1 && height > 1 && right + scrollX > 0 && bottom + scrollY > 0;
  };
  let texts = 0;
  for (const element of document.querySelectorAll(`:is(${roots}) *`)) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim());
    if (!(isText || element.matches('input, select, textarea')) || !isSeen(element)) continue;
    if (element.closest(':disabled, [aria-disabled="true"], option, svg, script, style')) continue;
    const look = lookOf(element);
    texts += 1;
    if (isKnown.has(look) || judged.get(look)) continue;
    if (!doubtful.includes(look)) doubtful.push(look);
    element.setAttribute('data-new-look', String(doubtful.indexOf(look)));
  }
  return { texts, doubtful };
}

/**
 * Whether what is clicked may be too small or too near to its neighbours for WCAG 2.5.8: where it surely is not, axe
 * need not place every element of the page to find that out.
 */
export function mayBeCrowded(): boolean {
  const minPx = 24;
  const root = document.querySelector('dialog:modal') ?? document;
  const kinds =
    'a[href], area, button, input, select, textarea, summary, iframe, audio, video, [contenteditable], [tabindex][role], [role="option"]';
  const quiet =
    /^(region|group|dialog|alertdialog|main|status|alert|log|document|table|list|img|figure|row|navigation|none)$/;
  const targets = [...root.querySelectorAll(kinds)]
    .filter((element) => element.checkVisibility() && !quiet.test(element.getAttribute('role') ?? ''))
    .map((element) => element.getBoundingClientRect())
    .filter(({ width, height }) => width > 0 && height > 0);
  const isSmall = ({ width, height }: DOMRect): boolean => width < minPx || height < minPx;
  const areLapped = (one: DOMRect, other: DOMRect): boolean =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const isTooNear = (small: DOMRect, other: DOMRect): boolean => {
    const [x, y] = [small.left + small.width / 2, small.top + small.height / 2];
    const toBox = Math.hypot(
      Math.max(other.left - x, x - other.right, 0),
      Math.max(other.top - y, y - other.bottom, 0),
    );
    const toMiddle = Math.hypot(x - other.left - other.width / 2, y - other.top - other.height / 2);
    return toBox < minPx / 2 || (isSmall(other) && toMiddle < minPx);
  };
  return targets.some((one, index) =>
    targets.some(
      (other, place) => place !== index && (areLapped(one, other) || (isSmall(one) && isTooNear(one, other))),
    ),
  );
}
