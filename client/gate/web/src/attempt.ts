// What `make` gives, or the error that it throws: for answers that a page reads.
export function attempt<Made>(make: () => Made): Made | Error {
  try {
    return make();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
