// What every project does with the package: one word there and back.

export async function echo(createTunnel, options, port) {
  const tunnel = createTunnel(options);
  const socket = tunnel.connect({ hostname: "127.0.0.1", port });
  const writer = socket.writable.getWriter();
  await writer.write("a word");
  await writer.close();
  let answer = "";
  const decoder = new TextDecoder();
  for await (const chunk of socket.readable) answer += decoder.decode(chunk, { stream: true });
  await tunnel.close();
  return answer;
}
