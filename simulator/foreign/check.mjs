// A small bot on grammY, a client that shares no code with the simulator. The test in
// foreign_test.go plays the person who talks to it and checks what that person sees.
//
// Environment: BOT_API_ROOT and BOT_TOKEN say where to connect, STRANGER and BLOCKER are
// chats that cannot be written to.

import { Bot, GrammyError, InlineKeyboard, InputFile } from "grammy";

const { BOT_API_ROOT, BOT_TOKEN, STRANGER, BLOCKER } = process.env;
const bot = new Bot(BOT_TOKEN, { client: { apiRoot: BOT_API_ROOT } });

bot.command("start", async (ctx) => {
  const keyboard = new InlineKeyboard().text("Approve", "yes").text("Reject", "no");
  await ctx.reply("Hello, <b>Ann</b> &amp; all", { parse_mode: "HTML", reply_markup: keyboard });
});

bot.callbackQuery("yes", async (ctx) => {
  await ctx.answerCallbackQuery({ text: "Noted", show_alert: true });
  await ctx.editMessageText("Approved");
});

bot.hears("document", async (ctx) => {
  await ctx.replyWithDocument(new InputFile(Buffer.from("one\ntwo"), "list.txt"), {
    caption: "The list",
    reply_parameters: { message_id: ctx.msg.message_id },
  });
});

bot.hears("errors", async (ctx) => {
  const found = [];
  for (const chat of [Number(STRANGER), Number(BLOCKER), ctx.chat.id]) {
    try {
      await ctx.api.sendMessage(chat, "unwelcome");
      found.push("no error");
    } catch (error) {
      if (!(error instanceof GrammyError)) throw error;
      found.push(`${error.error_code} ${error.description} ${JSON.stringify(error.parameters)}`);
    }
  }
  await ctx.reply(found.join("\n"));
});

bot.hears("stop", async (ctx) => {
  await ctx.reply("bye");
  process.exit(0);
});

bot.catch((error) => {
  console.error(error);
  process.exit(1);
});

await bot.start({ allowed_updates: ["message", "callback_query"], timeout: 20 });
