/** Says what is missing where neither the install nor the machine has a Node that runs TypeScript as it is. */
const needed = 24;
const [major] = process.versions.node.split('.');
if (Number(major) < needed) {
  console.error(
    `Parley needs Node ${needed} or newer, and this is ${process.versions.node}. The install brings it where npm has a build for ` +
      `${process.platform} ${process.arch}; it had none, or was told to leave optional packages out. Install Node ${needed} and try again.`,
  );
  process.exitCode = 1;
}
