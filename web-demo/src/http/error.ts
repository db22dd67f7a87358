/** The answer was no HTTP/1.1, or not all of it came. The message is a sentence for people. */
export class HttpError extends Error {
  override name = "HttpError";
}
