import { setTimeout as pause } from 'node:timers/promises';
import { operatorOptions, signIn } from './account.ts';
import { accountOptions, type Command, jsonOption, UsageError } from './command.ts';
import { table } from './table.ts';

const lookEveryMs = 1_000;

/** Media nodes belong to operators: these commands sign in. */
export const nodes: Command = {
  does: 'Lists media nodes, drains one (--wait: until its rooms are gone) or puts it back.',
  usage: 'list | drain <name> [--wait] [--force] | undrain <name>',
  options: {
    url: accountOptions.url,
    ...operatorOptions,
    ...jsonOption,
    wait: { type: 'boolean', means: 'drain: end when the node has no rooms left.' },
    force: { type: 'boolean', means: 'drain: move its clients to other nodes now.' },
  },
  words: { least: 1, most: 2 },
  async run(values, context, [verb = '', name]) {
    if (!['list', 'drain', 'undrain'].includes(verb)) throw new UsageError(`nodes cannot ${verb}.`);
    if (verb !== 'list' && name === undefined) throw new UsageError(`Which node? parley nodes ${verb} <name>.`);
    const api = await signIn(values, context);
    if (verb === 'list') {
      const servers = await api.call('listServers');
      const rows = servers.map((one) => [
        one.name,
        one.region,
        one.status,
        shown(one.activeRooms),
        shown(one.activeParticipants),
      ]);
      context.out(
        values['json'] ? JSON.stringify(servers) : table(['NAME', 'REGION', 'STATUS', 'ROOMS', 'PEOPLE'], rows),
      );
      return 0;
    }
    const node = name ?? '';
    const changed =
      verb === 'drain'
        ? await api.call('drainServer', { name: node, body: { force: values['force'] === true } })
        : await api.call('undrainServer', { name: node });
    let rooms = changed.activeRooms ?? 0;
    context.out(`${node} is ${changed.status}${verb === 'drain' ? `, ${rooms} rooms on it` : ''}.`);
    while (verb === 'drain' && values['wait'] && rooms > 0 && !context.signal.aborted) {
      await pause(lookEveryMs, undefined, { signal: context.signal }).catch(() => {});
      const seen = await api.call('getServer', { name: node });
      if ((seen.activeRooms ?? 0) !== rooms) context.out(`${seen.activeRooms ?? 0} rooms left.`);
      rooms = seen.activeRooms ?? 0;
    }
    if (verb === 'drain' && values['wait'] && rooms === 0) context.out('It can be stopped now.');
    return context.signal.aborted ? 130 : 0;
  },
};

const shown = (count: number | null): string => (count === null ? 'no data' : String(count));
