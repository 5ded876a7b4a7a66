/** Two bots in a room without media: who is there, questions and answers are signaling. */
import { Room } from '@parley/client';

const { url, tokens } = JSON.parse(process.argv[2] ?? '');
const open = async (token) => {
  const room = new Room({ url, token, autoSubscribe: false });
  await room.connect();
  return room;
};
const bob = await open(tokens.bob);
bob.handleRpc('greet', async (payload) => `hello, ${payload}`);
const ada = await open(tokens.ada);
console.log([...ada.participants.values()].map(({ identity }) => identity).join());
console.log(await ada.self.rpc('bob', 'greet', 'ada'));
await ada.leave();
await bob.leave();
