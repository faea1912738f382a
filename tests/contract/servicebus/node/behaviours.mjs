// What Microsoft's Node client sees of a broker: `node behaviours.mjs CONNECTION_STRING`.
// Each behaviour has a topic of its own, named like it, and all run side by side; what they saw
// goes to the standard output as one JSON object, which the tests read.

import { ServiceBusClient } from "@azure/service-bus";
import Long from "long";

const FIRST = { fromSequenceNumber: Long.ONE };

const SUBSCRIPTION = "sub";
const WAIT = { maxWaitTimeInMs: 5_000 };

async function main(connectionString) {
  const client = new ServiceBusClient(connectionString, { retryOptions: { maxRetries: 0 } });
  const seen = await Promise.all(
    Object.entries(BEHAVIOURS).map(async ([name, behaviour]) => [
      name,
      await behaviour(new Topic(client, name)),
    ]),
  );
  await client.close();
  console.log(JSON.stringify(Object.fromEntries(seen)));
}

class Topic {
  constructor(client, name) {
    this.client = client;
    this.name = name;
    this.sender = client.createSender(name);
    this.receiver = this.receiving();
  }

  receiving(options = {}) {
    return this.client.createReceiver(this.name, SUBSCRIPTION, options);
  }

  get deadLetters() {
    return this.receiving({ subQueueType: "deadLetter" });
  }

  async send(...bodies) {
    await this.sender.sendMessages(bodies.map((body) => ({ body })));
  }

  async take(count = 1, receiver = this.receiver) {
    const taken = [];
    while (taken.length < count) {
      const got = await receiver.receiveMessages(count - taken.length, WAIT);
      if (got.length === 0) throw new Error(`${this.name}: ${taken.length} of ${count} came`);
      taken.push(...got);
    }
    return taken;
  }

  async left() {
    const messages = await this.receiver.peekMessages(100, FIRST);
    return bodies(messages);
  }
}

const BEHAVIOURS = {
  async properties(topic) {
    await topic.sender.sendMessages({
      body: { text: "ä 😀", list: [1, 2.5, null] },
      messageId: "m-1",
      subject: "JobStarted",
      contentType: "application/json",
      correlationId: "c-1",
      timeToLive: 3_600_000,
      applicationProperties: { text: "ä", int: 7, float: 0.5, flag: true },
    });
    const [got] = await topic.take();
    await topic.receiver.completeMessage(got);
    const { body, messageId, subject, contentType, correlationId, timeToLive } = got;
    const { applicationProperties, deliveryCount, state } = got;
    const lockSeconds = (got.lockedUntilUtc - Date.now()) / 1_000;
    const age = (Date.now() - got.enqueuedTimeUtc) / 1_000;
    return {
      sent: { body, messageId, subject, contentType, correlationId, timeToLive },
      applicationProperties, deliveryCount, state, lockSeconds, age,
      left: await topic.left(),
    };
  },

  async batch(topic) {
    const batch = await topic.sender.createMessageBatch();
    let count = 0;
    const applicationProperties = { filling: "x".repeat(1_000) };
    while (batch.tryAddMessage({ body: count, applicationProperties })) count += 1;
    await topic.sender.sendMessages(batch);
    const receiver = topic.receiving({ receiveMode: "receiveAndDelete" });
    const got = await topic.take(count, receiver);
    return { largest: batch.maxSizeInBytes, count, bodies: bodies(got), left: await topic.left() };
  },

  async tooLarge(topic) {
    const code = await failure(topic.send("x".repeat(300_000)));
    return { code, left: await topic.left() };
  },

  async unknown(topic) {
    const code = await failure(topic.client.createSender("nope").sendMessages({ body: 1 }));
    return { code };
  },

  async abandon(topic) {
    await topic.send("a");
    const [got] = await topic.take();
    await topic.receiver.abandonMessage(got, { why: "busy" });
    const [again] = await topic.take();
    await topic.receiver.completeMessage(again);
    const { body, deliveryCount, applicationProperties } = again;
    return { body, deliveryCount, applicationProperties, left: await topic.left() };
  },

  async deadLetter(topic) {
    await topic.send("a");
    const [got] = await topic.take();
    await topic.receiver.deadLetterMessage(got, {
      deadLetterReason: "bad",
      deadLetterErrorDescription: "cannot be read",
    });
    const receiver = topic.deadLetters;
    const [dead] = await topic.take(1, receiver);
    await receiver.completeMessage(dead);
    const { body, deadLetterReason, deadLetterErrorDescription } = dead;
    const remaining = await receiver.peekMessages(10, FIRST);
    return {
      body, deadLetterReason, deadLetterErrorDescription,
      sameNumber: dead.sequenceNumber.equals(got.sequenceNumber),
      left: [...(await topic.left()), ...bodies(remaining)],
    };
  },

  async peek(topic) {
    await topic.send("a", "b", "c");
    const [, deferred] = await topic.take(2);
    await topic.receiver.deferMessage(deferred);
    const seen = await topic.receiver.peekMessages(10, FIRST);
    return seen.map(({ body, state }) => [body, state]);
  },

  async renew(topic) {
    await topic.send("a");
    const [got] = await topic.take();
    const before = got.lockedUntilUtc;
    await sleep(50);
    const until = await topic.receiver.renewMessageLock(got);
    await topic.receiver.completeMessage(got);
    return { gained: until - before, left: await topic.left() };
  },

  async lostLock(topic) {
    await topic.send("a");
    const receiver = topic.receiving({ maxAutoLockRenewalDurationInMs: 0 });
    const [got] = await topic.take(1, receiver);
    const [again] = await topic.take(1, receiver);
    const code = await failure(receiver.completeMessage(got));
    await receiver.completeMessage(again);
    return { code, deliveryCount: again.deliveryCount, left: await topic.left() };
  },

  async schedule(topic) {
    const later = new Date(Date.now() + 3_600_000);
    const soon = new Date(Date.now() + 500);
    const [cancelled] = await topic.sender.scheduleMessages([{ body: "never" }], later);
    await topic.sender.scheduleMessages([{ body: "soon" }, { body: "soon, too" }], soon);
    await topic.sender.cancelScheduledMessages(cancelled);
    const code = await failure(topic.sender.cancelScheduledMessages(cancelled));
    const got = await topic.take(2);
    for (const message of got) await topic.receiver.completeMessage(message);
    const early = got.some((message) => message.enqueuedTimeUtc < soon);
    return { code, bodies: bodies(got), early, left: await topic.left() };
  },

  async deferred(topic) {
    await topic.send("a", "b", "c", "d");
    const taken = await topic.take(4);
    for (const message of taken) await topic.receiver.deferMessage(message);
    const numbers = taken.map((message) => message.sequenceNumber);
    const [a, b, c, d] = await topic.receiver.receiveDeferredMessages(numbers);
    await topic.receiver.completeMessage(a);
    await topic.receiver.abandonMessage(b);
    await topic.receiver.deadLetterMessage(c, { deadLetterReason: "r" });
    await topic.receiver.deferMessage(d);
    const dead = await topic.deadLetters.peekMessages(10);
    return {
      deferred: [a, b, c, d].map(({ body, state }) => [body, state]),
      left: await topic.left(),
      dead: dead.map(({ body, deadLetterReason }) => [body, deadLetterReason]),
    };
  },

  async subscribe(topic) {
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    const handled = [];
    await new Promise((resolve, reject) => {
      topic.receiver.subscribe(
        {
          async processMessage({ body }) {
            handled.push(body);
            if (handled.length === numbers.length) resolve();
          },
          async processError({ error }) {
            reject(error);
          },
        },
        { maxConcurrentCalls: 4 },
      );
      topic.send(...numbers).catch(reject);
    });
    await topic.receiver.close();
    return { handled, left: bodies(await topic.receiving().peekMessages(100)) };
  },
};

function bodies(messages) {
  return messages.map((message) => message.body);
}

async function failure(promise) {
  return promise.then(
    () => "nothing failed",
    (error) => error.code,
  );
}

async function sleep(milliseconds) {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

await main(process.argv[2]);
