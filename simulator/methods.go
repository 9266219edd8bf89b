package simulator

// A handler carries out a method. It is called with the server's mutex held, on a call
// that fits the description of the method, and returns the result or an *APIError.
type handler func(s *Server, c *call) (any, error)

// methods lists what is simulated, besides getUpdates, which waits.
func methods() map[string]handler {
	return map[string]handler{
		"getMe":                  getMe,
		"logOut":                 logOut,
		"close":                  closeBot,
		"setWebhook":             setWebhook,
		"deleteWebhook":          deleteWebhook,
		"getWebhookInfo":         getWebhookInfo,
		"sendMessage":            sendMessage,
		"sendDocument":           sendDocument,
		"sendChatAction":         sendChatAction,
		"editMessageText":        editMessageText,
		"editMessageCaption":     editMessageCaption,
		"editMessageReplyMarkup": editMessageReplyMarkup,
		"deleteMessage":          deleteMessage,
		"pinChatMessage":         pinChatMessage,
		"unpinChatMessage":       unpinChatMessage,
		"answerCallbackQuery":    answerCallbackQuery,
		"getChat":                getChat,
		"getChatMember":          getChatMember,
		"getChatAdministrators":  getChatAdministrators,
		"setMyCommands":          setMyCommands,
		"getMyCommands":          getMyCommands,
		"deleteMyCommands":       deleteMyCommands,
		"createForumTopic":       createForumTopic,
		"closeForumTopic":        closeForumTopic,
		"reopenForumTopic":       reopenForumTopic,
		"deleteForumTopic":       deleteForumTopic,
		"getFile":                getFile,
	}
}
