import { ParleyError, Room } from '@parley/client';
import { Chat } from '@parley/client/chat';

const [join, state, videos, messages, send] = ['join', 'state', 'videos', 'messages', 'send'].map((id) =>
  document.getElementById(id),
);
const say = (text) => {
  state.textContent = text;
};

async function admit(user) {
  const answer = await fetch(`/admit?user=${encodeURIComponent(user)}`);
  const admitted = await answer.json();
  if (!answer.ok) throw new Error(admitted.message);
  return admitted;
}

async function startCall(url, token) {
  const room = new Room({ url, token });
  room.on('trackSubscribed', (track) => videos.append(track.attach()));
  room.on('trackUnsubscribed', (track) => track.detach());
  room.on('connectionStateChanged', (now, _before, error) => say(error ? error.message : now));
  await room.connect();
  await room.self.setMicrophone(true);
  const camera = await room.self.setCamera(true);
  if (camera) videos.prepend(camera.attach());
}

async function startChat(url, token, name) {
  const chat = new Chat({ url, token });
  await chat.connect();
  const conversation = await chat.join(name);
  await conversation.history({ limit: 50 });
  const show = () => {
    messages.replaceChildren(
      ...conversation.messages.getSnapshot().map(({ senderId, text }) => {
        const item = document.createElement('li');
        item.textContent = `${senderId}: ${text}`;
        return item;
      }),
    );
  };
  conversation.messages.subscribe(show);
  show();
  send.hidden = false;
  send.addEventListener('submit', (event) => {
    event.preventDefault();
    conversation.send(send.elements.text.value).catch((error) => say(error.message));
    send.reset();
  });
}

join.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    // A function fetches a new token when the old one has expired.
    const user = join.elements.user.value;
    const { url, room } = await admit(user);
    await startChat(url, async () => (await admit(user)).chatToken, room);
    await startCall(url, async () => (await admit(user)).callToken);
    join.hidden = true;
  } catch (error) {
    say(ParleyError.is(error) ? error.message : String(error));
  }
});
