/**
 * Regular expressions whose time is bounded by the length of the text times their own: they run as a set of states, and
 * never go back. What cannot run so (backreferences, lookaround) is refused. Case does not matter.
 */
export interface LinearPattern {
  /** How many states it has: what a character costs at most. */
  readonly size: number;
  /** What any match covers, as pairs of indices into `points`; with `onlyFirst` it stops at the first end of one. */
  find(points: readonly string[], onlyFirst: boolean): [from: number, to: number][];
}

export class PatternRefused extends Error {
  override name = 'PatternRefused';
}

type Matches = (point: string) => boolean;
type Assertion = '^' | '$' | 'b' | 'B';
type Node =
  | { is: 'point'; matches: Matches }
  | { is: 'assert'; what: Assertion }
  | { is: 'all'; parts: Node[] }
  | { is: 'any'; parts: Node[] }
  | { is: 'repeat'; part: Node; min: number; max: number | null };

type State =
  | { is: 'point'; matches: Matches; next: number }
  | { is: 'assert'; what: Assertion; next: number }
  | { is: 'fork'; next: number; other: number }
  | { is: 'end' };

/** A text of 4,000 characters is 10 ms then, at the very worst (ADR 194). */
const statesMax = 100;
const depthMax = 20;
const countMax = 100;
const endState = 0;

const refuse = (message: string): never => {
  throw new PatternRefused(message);
};

/** Asked of one character at a time, so that the engine of the language has nothing to go back over. */
function charMatcher(source: string): Matches {
  let expression: RegExp;
  try {
    expression = new RegExp(`^(?:${source})$`, 'isu');
  } catch {
    return refuse(`${source} is not a character or class.`);
  }
  const ascii = Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)));
  return (point) => {
    const code = point.charCodeAt(0);
    return code < 128 && point.length === 1 ? (ascii[code] ?? false) : expression.test(point);
  };
}

const anyPoint: Matches = (point) => point !== '\n';
const escapeSource = (point: string): string => point.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&');
const word = charMatcher('[\\p{L}\\p{N}_]');

function parse(source: string): Node {
  const points = [...source];
  let [at, depth] = [0, 0];

  function alternatives(): Node {
    if (++depth > depthMax) refuse('The pattern is nested too deeply.');
    const parts = [sequence()];
    while (points[at] === '|') {
      at++;
      parts.push(sequence());
    }
    depth--;
    return parts.length === 1 ? (parts[0] as Node) : { is: 'any', parts };
  }

  function sequence(): Node {
    const parts: Node[] = [];
    while (at < points.length && points[at] !== '|' && points[at] !== ')') parts.push(repeated(atom()));
    return { is: 'all', parts };
  }

  function repeated(part: Node): Node {
    const bounds = quantifier();
    if (!bounds) return part;
    if (part.is === 'assert') refuse('An anchor cannot be repeated.');
    // Whether it takes few or many first changes what is found first, not what is found.
    if (points[at] === '?') at++;
    if (quantifier()) refuse('Two quantifiers follow each other.');
    return { is: 'repeat', part, ...bounds };
  }

  function quantifier(): { min: number; max: number | null } | null {
    const simple = { '*': [0, null], '+': [1, null], '?': [0, 1] }[points[at] ?? ''] as
      | [number, number | null]
      | undefined;
    if (simple) {
      at++;
      return { min: simple[0], max: simple[1] };
    }
    if (points[at] !== '{') return null;
    const end = points.indexOf('}', at);
    const found = /^(\d{1,3})(,(\d{0,3}))?$/.exec(points.slice(at + 1, end === -1 ? at + 1 : end).join(''));
    if (!found) return refuse('{ must be escaped, or say how often: {2}, {2,} or {2,4}.');
    at = end + 1;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === '' ? null : Number(found[3]);
    if (min > countMax || (max ?? 0) > countMax || (max !== null && max < min)) refuse('A count is out of range.');
    return { min, max };
  }

  function atom(): Node {
    const point = points[at++] ?? refuse('The pattern ends too early.');
    if (point === '(') return group();
    if (point === '[') return { is: 'point', matches: charMatcher(charClass()) };
    if (point === '.') return { is: 'point', matches: anyPoint };
    if (point === '^' || point === '$') return { is: 'assert', what: point };
    if (point === '\\') return escaped();
    if ('*+?{'.includes(point)) refuse(`Nothing is before ${point}.`);
    return { is: 'point', matches: charMatcher(escapeSource(point)) };
  }

  function group(): Node {
    if (points[at] === '?') {
      if (points[at + 1] !== ':') refuse('Of groups with (?, only (?: is known: no lookaround, no names, no flags.');
      at += 2;
    }
    const inside = alternatives();
    if (points[at++] !== ')') refuse('A group is not closed.');
    return inside;
  }

  function charClass(): string {
    const start = at;
    if (points[at] === '^') at++;
    while (at < points.length && points[at] !== ']') at += points[at] === '\\' ? 2 : 1;
    if (at >= points.length) refuse('A class is not closed.');
    return `[${points.slice(start, at++).join('')}]`;
  }

  function escaped(): Node {
    const point = points[at++] ?? refuse('The pattern ends too early.');
    if (point === 'b' || point === 'B') return { is: 'assert', what: point };
    if (/[0-9k]/.test(point)) refuse('Backreferences cannot be run in bounded time.');
    if (point === 'p' || point === 'P') {
      const end = points[at] === '{' ? points.indexOf('}', at) : -1;
      if (end === -1) refuse(`\\${point} needs a property: \\${point}{L}.`);
      const source = `\\${point}${points.slice(at, end + 1).join('')}`;
      at = end + 1;
      return { is: 'point', matches: charMatcher(source) };
    }
    if (/[a-zA-Z]/.test(point) && !/[dDwWsSnrtfv]/.test(point)) refuse(`\\${point} is not known.`);
    return { is: 'point', matches: charMatcher(/[a-z]/i.test(point) ? `\\${point}` : escapeSource(point)) };
  }

  const whole = alternatives();
  if (at < points.length) refuse('A group is closed that was not opened.');
  return whole;
}

/** From the end to the beginning: each state is made when what follows it is known. */
function build(root: Node): { states: State[]; first: number } {
  const states: State[] = [{ is: 'end' }];
  const add = (state: State): number => {
    if (states.length >= statesMax) refuse(`The pattern has more than ${statesMax} states; counts multiply them.`);
    return states.push(state) - 1;
  };

  function before(next: number, node: Node): number {
    switch (node.is) {
      case 'point':
        return add({ is: 'point', matches: node.matches, next });
      case 'assert':
        return add({ is: 'assert', what: node.what, next });
      case 'all':
        return node.parts.reduceRight((after, part) => before(after, part), next);
      case 'any':
        return node.parts.map((part) => before(next, part)).reduceRight((other, one) => fork(one, other));
      case 'repeat':
        return repeat(next, node);
    }
  }

  const fork = (next: number, other: number): number => add({ is: 'fork', next, other });

  function repeat(next: number, { part, min, max }: Extract<Node, { is: 'repeat' }>): number {
    let after = next;
    if (max === null) {
      const loop = fork(next, next);
      states[loop] = { is: 'fork', next: before(loop, part), other: next };
      after = loop;
    } else for (let more = min; more < max; more++) after = fork(before(after, part), next);
    for (let more = 0; more < min; more++) after = before(after, part);
    return after;
  }

  return { first: before(endState, root), states };
}

export function compilePattern(source: string): LinearPattern {
  const { states, first } = build(parse(source));
  const size = states.length;
  return { size, find: (points, onlyFirst) => run(states, first, points, onlyFirst) };
}

/** The states that are held at a place, oldest first, and where each thread began. */
interface Threads {
  ids: Int32Array;
  starts: Int32Array;
  count: number;
}

const threadsOf = (size: number): Threads => ({ ids: new Int32Array(size), starts: new Int32Array(size), count: 0 });

function run(states: readonly State[], first: number, points: readonly string[], onlyFirst: boolean) {
  const found: [number, number][] = [];
  // Of each state: the step at which it was entered last. Older threads come first, so the first to enter is the oldest.
  const entered = new Int32Array(states.length).fill(-1);
  const stack = new Int32Array(2 * states.length);
  let [held, next] = [threadsOf(states.length), threadsOf(states.length)];

  function enter(state: number, start: number, at: number): void {
    let top = 0;
    stack[top++] = state;
    while (top > 0) {
      const id = stack[--top] ?? 0;
      if (entered[id] === at) continue;
      entered[id] = at;
      const one = states[id] as State;
      if (one.is === 'point') {
        next.ids[next.count] = id;
        next.starts[next.count++] = start;
      } else if (one.is === 'fork') {
        stack[top++] = one.other;
        stack[top++] = one.next;
      } else if (one.is === 'end') note(found, start, at);
      else if (holds(one.what, points, at)) stack[top++] = one.next;
    }
  }

  for (let at = 0; ; at++) {
    next.count = 0;
    const previous = points[at - 1];
    for (let place = 0; previous !== undefined && place < held.count; place++) {
      const state = states[held.ids[place] ?? 0] as Extract<State, { is: 'point' }>;
      if (entered[state.next] !== at && state.matches(previous)) enter(state.next, held.starts[place] ?? 0, at);
    }
    enter(first, at, at);
    if (at >= points.length || (onlyFirst && found.length > 0)) return found;
    [held, next] = [next, held];
  }
}

/** What grows from the same beginning is one. */
function note(found: [number, number][], start: number, at: number): void {
  if (start === at) return;
  const last = found.at(-1);
  if (last && last[0] === start) last[1] = at;
  else found.push([start, at]);
}

function holds(what: Assertion, points: readonly string[], at: number): boolean {
  if (what === '^') return at === 0;
  if (what === '$') return at === points.length;
  const isBorder = isWord(points[at - 1]) !== isWord(points[at]);
  return (what === 'b') === isBorder;
}

const isWord = (point: string | undefined): boolean => point !== undefined && word(point);
